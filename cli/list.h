// `rankbox list`: all exercises, and the overview that bare `rankbox` shows.
#pragma once

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
}

namespace rankbox::cli {

void add_list(CLI::App& app);

/// Chapters, progress, and what to do next.
void print_overview();

}  // namespace rankbox::cli
