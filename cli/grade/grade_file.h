// Grades the bytes of one submitted file.
#pragma once

#include <cstdint>
#include <string>

#include "cli/exercise/grade.h"
#include "cli/grade/result.h"
#include "cli/grade/source_text.h"
#include "exercises/registry.h"

namespace rankbox::cli {

struct FileGrading {
  double seconds = 20;     // that each program may run: more than `check`, for jobs share the cores
  int memory_mb = 1024;    // that it may use
  bool sealed = true;      // the verdict is made where no submitted code runs
  std::uint64_t salt = 0;  // of the judge's inputs, for all files; 0: follows from secret and file
  std::string secret = {};
  bool pictures = false;  // draw the runs that fail
};

/// Returns what the result depends on, as 40 hexadecimal digits: the bytes, the exercise, the
/// options, the salt, the registry, the solution, and this program.
std::string key_of(const SourceText& source, const Exercise& exercise, const FileGrading& grading);

/// Compiles and judges a copy of the file in a folder of its own, so that nothing in the result
/// depends on where it was. Blocks until done. A failure of ours becomes a verdict of status
/// kError. Throws Interrupted while an InterruptGuard lives. Thread safety: any thread.
/// @param known an earlier result, of which only the picture may be missing; null: none
GradeResult grade_source(const SourceText& source, const Exercise& exercise,
                         const FileGrading& grading, const GradeResult* known = nullptr);

/// Returns whether the result has all that was asked for.
bool is_complete(const GradeResult& result, const FileGrading& grading);

}  // namespace rankbox::cli
