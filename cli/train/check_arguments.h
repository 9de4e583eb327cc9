// Mistakes on the command line of `rankbox train`, found before its program is built.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rankbox::cli {

/// Checks the arguments by the help of the program: its options, whether each has the number or
/// the text that it takes, and the names of models and strategies. Left to the program: ranges of
/// numbers, other names, and what depends on several options or on the backend. Throws
/// InvalidArgument, one line, for what the program would refuse, too.
void check_train_arguments(const std::vector<std::string>& arguments, std::string_view help);

}  // namespace rankbox::cli
