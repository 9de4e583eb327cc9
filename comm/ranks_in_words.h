// A list of ranks in messages.
#pragma once

#include <span>
#include <string>

namespace rankbox {

/// Returns "rank 3", "ranks 0 and 3" or "ranks 0 to 3, 5 and 7"; of many parts, the first.
/// REQUIRES: there is one.
std::string ranks_in_words(std::span<const int> ranks);

}  // namespace rankbox
