// Measures all worlds of a plan, with this process's ranks.
#pragma once

#include <string>
#include <vector>

#include "cli/compare/measure/session.h"

namespace rankbox::cli {

/// Starts the plan's largest world once and does nothing in it. Throws InvalidArgument if this
/// machine cannot start it.
void check_largest_world(const Plan& plan);

/// Blocks until all worlds are measured. Rows of baselines follow the native row of their contest.
/// Under a launcher, all processes call it, and there is one world of as many ranks. Returns a line
/// for each baseline that could not be measured. Throws as run_session.
/// @param first_contest in the first world: another process measured the earlier ones
std::vector<std::string> measure_worlds(const Plan& plan, const Listener& listener,
                                        std::size_t first_contest = 0);

}  // namespace rankbox::cli
