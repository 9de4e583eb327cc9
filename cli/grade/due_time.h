// Points in time as people write them: ISO 8601.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace rankbox::cli {

/// Returns seconds since 1970 for "2026-12-01", "2026-12-01T23:59:00" (both local time),
/// "2026-12-01T23:59:00+01:00" or "…Z"; with a space for the T, and one before the zone, too. None
/// for other text.
std::optional<std::int64_t> parse_time(const std::string& text);

}  // namespace rankbox::cli
