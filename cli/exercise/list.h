// `rankbox list`: all exercises, and the overview that bare `rankbox` shows.
#pragma once

#include <string>

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
}

namespace rankbox::cli {

void add_list(CLI::App& app);

/// Chapters, progress, and what to do next.
void print_overview();

/// "[█████░░░░░░░] 11 of 27"
std::string progress_bar();

}  // namespace rankbox::cli
