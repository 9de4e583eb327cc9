// `rankbox compare`: topologies against the native collective, by wall and virtual clock.
#pragma once

#include <vector>

#include "cli/compare/plan/plan.h"

namespace rankbox::cli {

/// Measures the plan's references in this process and prints the tables. Shows progress on stderr
/// if that is a terminal. Throws Error that names the first row with a wrong result.
void compare_references(const Plan& plan);

}  // namespace rankbox::cli
