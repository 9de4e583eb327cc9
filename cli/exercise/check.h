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

/// Returns the chapter that "02_broadcast", "02", "2", its folder or, if no exercise has that name,
/// "broadcast" is; null if there is none. Throws InvalidArgument, which lists the chapters, for a
/// name that only a chapter could have.
const Chapter* chapter_named(const std::string& text);

}  // namespace rankbox::cli
