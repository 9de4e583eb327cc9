// Grades the files of a class, several at a time.
#pragma once

#include <optional>
#include <vector>

#include "cli/grade/code_excerpt.h"
#include "cli/grade/grade_file.h"
#include "cli/grade/store.h"
#include "cli/grade/submissions.h"

namespace rankbox::cli {

struct GradeAllOptions {
  FileGrading file;
  int jobs = 1;                    // gradings at a time
  bool with_helpers = true;        // headers beside a file belong to it
  double seconds_per_student = 0;  // of grading; 0: no limit
  double seconds_in_all = 0;       // of this call; 0: no limit
};

/// A file of one student.
struct GradingTask {
  std::size_t student = 0;  // index
  const SubmittedFile* file = nullptr;
  const Exercise* exercise = nullptr;
  // Afterwards:
  std::vector<std::string> left_out = {};  // about headers beside it (source_text.h)
  CodeExcerpt code = {};                   // of a program that fails, where pictures are asked for
  GradeResult result = {};                 // status kError where a time limit left it undone
};

/// Grades what the store does not have yet, in the order of the tasks, and equal files once. No
/// grading begins after a limit; those that run end by their own. A limit per student counts the
/// seconds that the store remembers too, so it does not depend on interruptions. Shows progress on
/// stderr: in a terminal's status line, or as a line of a log every 10 s at most. Blocks until
/// done. Throws Interrupted while an InterruptGuard lives: what is done by then is in the store.
void grade_all(std::vector<GradingTask>& tasks, ResultStore& store, const GradeAllOptions& options);

}  // namespace rankbox::cli
