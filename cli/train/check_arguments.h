// Mistakes on the command line of `rankbox train`, found before its program is built.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rankbox::cli {

/// Checks the arguments by the help of the program: its options, what they take, and the names of
/// models and strategies. What depends on several of them, or on the backend, is left to the
/// program. Throws InvalidArgument as that would.
void check_train_arguments(const std::vector<std::string>& arguments, std::string_view help);

}  // namespace rankbox::cli
