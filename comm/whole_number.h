// Whole numbers in text: in options, in variables of the environment, in what is to be replayed.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace rankbox {

/// The number that all of `text` is, if it is one from `least` to `most`: digits, perhaps behind a
/// minus sign.
std::optional<std::int64_t> parse_whole_number(std::string_view text,
                                               std::int64_t least = INT64_MIN,
                                               std::int64_t most = INT64_MAX);

}  // namespace rankbox
