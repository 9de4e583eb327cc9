// The race demo's options on a command line: those of `race_demo` and of `./rankbox race`.
#pragma once

#include "race/race_demo.h"

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
}

namespace rankbox::cli {

/// Adds --threads, --repeats, --runs and --step. `options` must outlive the parsing.
void add_race_options(CLI::App& app, RaceOptions& options);

/// Sets what follows from the terminal, after parsing: colour, width, and whether a user can press
/// Enter.
void fit_to_terminal(RaceOptions& options);

}  // namespace rankbox::cli
