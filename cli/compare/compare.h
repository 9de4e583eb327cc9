// `rankbox compare`: topologies, including the learner's, against the native collective, by wall
// clock and virtual clock.
#pragma once

#include <vector>

#include "cli/compare/plan/plan.h"

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
}

namespace rankbox::cli {

/// Registers the subcommand. Its errors are exceptions; user errors are InvalidArgument.
void add_compare(CLI::App& app);

/// Registers the hidden subcommand of the process that measures.
void add_compare_worker(CLI::App& app);

/// Measures all of the plan's references in this process, with progress on stderr where that is a
/// terminal, and prints the tables. Throws Error that names the first row with a wrong result.
void compare_references(const Plan& plan);

}  // namespace rankbox::cli
