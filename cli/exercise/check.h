// `rankbox check`: grades one exercise, or all of a chapter.
#pragma once

#include <string>

#include "cli/exercise/grade.h"
#include "judge/catalog.h"

namespace rankbox::cli {

/// Grades the learner's file as `check NAME` does: prints and records the verdict. REQUIRES: an
/// InterruptGuard lives.
/// @param page_folder see GradeOptions
Grade check_own_file(const Exercise& exercise, const std::string& page_folder);

}  // namespace rankbox::cli
