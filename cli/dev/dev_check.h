// `rankbox dev check`: requirements of an exercise besides a passing solution.
#pragma once

#include <string>
#include <vector>

namespace rankbox::cli {

/// Checks these exercises, or all if none is named. Prints a line for each check and its problems.
/// Returns whether all checks pass. Throws InvalidArgument for an unknown name.
bool check_exercises(const std::vector<std::string>& names);

}  // namespace rankbox::cli
