// Compiled reference solutions, each a shared library.
//
// A submission may call the functions of the exercises that its own lists as `calls` in the
// registry, and of those that they call: an all-reduce of two others. It gets the reference
// solutions, which in a sealed run the rank processes load. All others are for it to write.
//
// Thread safety: any thread may call both; they wait for a solution that another thread compiles.
#pragma once

#include <string>
#include <vector>

#include "exercises/registry.h"

namespace rankbox::cli {

/// Returns the library of an exercise's solution. It is compiled once, and removed when this
/// program ends. Throws Error if it does not compile.
std::string reference_solution(const Exercise& exercise);

/// Returns the libraries of the solutions that a submission to `exercise` may call, each after
/// those that it calls itself. Compiles them the first time. Throws as reference_solution.
std::vector<std::string> callable_solutions(const Exercise& exercise);

/// Returns the name of an exercise whose function the library of a submission to `exercise` expects
/// elsewhere and may not call; empty if there is none. It is its own name where the function has
/// other parameters. A library may hide a call from this: in a sealed run, the solution is not
/// there.
std::string forbidden_call(const Exercise& exercise, const std::string& library);

}  // namespace rankbox::cli
