// A drawing of a run that failed.
#pragma once

#include <string>

#include "cli/exercise/grade.h"

namespace rankbox::cli {

/// Runs the failing case once more and returns its timeline as lines of at most 100 columns; a
/// deadlock is drawn up to where it ended. Returns "" where there is no run to draw: the program
/// passes, was not compiled, is the stub, or sends no messages. Blocks until done; see grade().
/// @param graded how the file was graded
std::string picture_of_failure(const Exercise& exercise, const Verdict& verdict,
                               const GradeOptions& graded);

}  // namespace rankbox::cli
