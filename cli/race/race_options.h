// The race demo's options, for `race_demo` and `./rankbox race`.
#pragma once

#include "race/race_demo.h"

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
}

namespace rankbox::cli {

/// Adds --threads, --repeats, --runs and --step. `options` must outlive the parsing.
void add_race_options(CLI::App& app, RaceOptions& options);

/// Sets the options that depend on the terminal: colour, width, whether a user can press Enter, and
/// that the demo ends when its output is no longer read.
/// Call after parsing.
void fit_to_terminal(RaceOptions& options);

}  // namespace rankbox::cli
