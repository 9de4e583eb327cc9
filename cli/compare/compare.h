// `rankbox compare`: topologies against the native collective, by wall and virtual clock.
#pragma once

#include <vector>

#include "cli/compare/plan/plan.h"

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
}

namespace rankbox::cli {

/// Registers the subcommand. Its errors are exceptions; user errors are InvalidArgument.
void add_compare(CLI::App& app);

/// Registers the hidden subcommand for the measuring process.
void add_compare_worker(CLI::App& app);

/// Measures the plan's references in this process and prints the tables. Shows progress on stderr
/// if that is a terminal. Throws Error that names the first row with a wrong result.
void compare_references(const Plan& plan);

}  // namespace rankbox::cli
