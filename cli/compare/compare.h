// `rankbox compare`: topologies, yours among them, against the native collective, by the wall clock
// and by the virtual one.
#pragma once

#include <vector>

#include "cli/compare/plan/plan.h"

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
}

namespace rankbox::cli {

/// Registers the subcommand. Its errors are exceptions: InvalidArgument for what is the user's to
/// mend.
void add_compare(CLI::App& app);

/// Registers the hidden subcommand of the process that measures.
void add_compare_worker(CLI::App& app);

/// Measures all of the plan's references in this process, with progress on stderr where that is a
/// terminal, and prints the tables. Throws Error that names the first row with a wrong result.
void compare_references(const Plan& plan);

}  // namespace rankbox::cli
