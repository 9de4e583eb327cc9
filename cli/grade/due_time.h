// Points in time as people write them: ISO 8601.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace rankbox::cli {

/// Returns seconds since 1970 for "2026-12-01T23:59:00+01:00" or "…Z", for "2026-12-01T23:59:00" in
/// local time, and for "2026-12-01", the end of that day in local time. A space may stand for the T
/// and precede the zone, and seconds may be left out. None for other text.
std::optional<std::int64_t> parse_time(const std::string& text);

}  // namespace rankbox::cli
