// `rankbox next`: the exercise to do next.
#pragma once

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
}

namespace rankbox::cli {

void add_next(CLI::App& app);

/// Prints the exercise to do next: its page, header, file and command.
void print_next();

}  // namespace rankbox::cli
