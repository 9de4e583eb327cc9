// Parsing of integers, in options, environment variables and replay arguments.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace rankbox {

/// Returns the number if all of `text` is an integer from `least` to `most`: digits, optionally
/// after a minus sign.
std::optional<std::int64_t> parse_whole_number(std::string_view text,
                                               std::int64_t least = INT64_MIN,
                                               std::int64_t most = INT64_MAX);

}  // namespace rankbox
