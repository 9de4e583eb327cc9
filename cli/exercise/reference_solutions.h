// Compiled reference solutions, each a shared library.
//
// A submission may call other exercises' functions, and solutions do: a broadcast of the gathered
// chunks, a ring of its halves. In a sealed run, the rank processes then load those solutions.
//
// Thread safety: any thread may call both; they wait for a solution that another thread compiles.
#pragma once

#include <string>
#include <vector>

#include "exercises/registry.h"

namespace rankbox::cli {

/// Returns the library of an exercise's solution. It is compiled once, and removed when this program
/// ends. Throws Error if it does not compile.
std::string reference_solution(const Exercise& exercise);

/// Returns the libraries of the solutions that `library` may call, each after those that it calls
/// itself. None of them is, or calls, the solution of `exercise`, or of a later exercise of its
/// chapter, which may be more general: that is for the submission to do.
/// @param library of a submission to `exercise`
std::vector<std::string> called_solutions(const Exercise& exercise, const std::string& library);

}  // namespace rankbox::cli
