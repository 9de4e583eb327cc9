// From a learner's source file to a library that can be judged.
#pragma once

#include <optional>
#include <string>

#include "verdict/catalog.h"
#include "verdict/verdict.h"

namespace rankbox::cli {

struct Compiled {
  std::optional<Failure> failure;  // the first error
  bool compiler_missing = false;   // then it is our failure, not the learner's
  std::string output;              // all that the compiler said
};

/// Compiles `source` with $CXX (default: c++) into the shared library `library`, which then has the
/// function rankbox_exercise() of exercise_entry.h. Blocks until done; see child.h for errors.
///
/// @param source a path from the project's root, or an absolute one
Compiled compile(const Exercise& exercise, const std::string& source, const std::string& library);

/// "void rankbox::broadcast_ring(Comm& dist, Tensor& tensor, int src)"
std::string signature(const Exercise& exercise);

}  // namespace rankbox::cli
