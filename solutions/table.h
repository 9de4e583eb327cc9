// The linked reference solutions by name.
//
// //solutions:table has those of the chapters about collectives; //solutions:training_table adds
// the others.
#pragma once

#include <string_view>
#include <vector>

#include "exercises/registry.h"

namespace rankbox {

struct Solution {
  std::string_view exercise;
  AnyFunction function;
};

/// Returns the solution of an exercise, or null if none is linked.
AnyFunction solution_of(std::string_view exercise);

/// Adds rows. The generated tables call it before main() starts. Returns true.
bool add_solutions(const std::vector<Solution>& solutions);

}  // namespace rankbox
