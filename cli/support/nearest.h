// Names that resemble a mistyped one.
#pragma once

#include <string>
#include <vector>

namespace rankbox::cli {

/// Returns at most three of `names`, the nearest first: those that contain `text`, or differ from
/// it in at most `most` letters (in a third of its own, for a long name).
std::vector<std::string> nearest_of(const std::string& text, const std::vector<std::string>& names,
                                    std::size_t most);

}  // namespace rankbox::cli
