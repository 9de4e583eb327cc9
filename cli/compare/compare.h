// `rankbox compare`: topologies against the native collective, by the wall clock and by the virtual
// one.
#pragma once

#include <string>
#include <vector>

#include "cli/compare/measure.h"

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
}

namespace rankbox::cli {

/// Registers the subcommand. Its errors are exceptions: Error for what is the user's to mend.
void add_compare(CLI::App& app);

/// Measures all of the plan, with progress on stderr where that is a terminal; prints the tables as
/// they are done, and the winners at the end, unless `quiet`.
std::vector<Row> compare(const Plan& plan, bool quiet);

/// Throws Error that names the first row with a wrong result.
void require_all_right(const std::vector<Row>& rows);

}  // namespace rankbox::cli
