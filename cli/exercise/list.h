// `rankbox list`: all exercises, and the overview of `rankbox` without arguments.
#pragma once

#include <string>

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
}

namespace rankbox::cli {

void add_list(CLI::App& app);

/// Prints chapters, progress and the next exercise.
void print_overview();

/// Returns "[█████░░░░░░░] 11 of 27".
std::string progress_bar();

}  // namespace rankbox::cli
