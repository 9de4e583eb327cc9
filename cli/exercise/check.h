// `rankbox check`: grades one exercise, or all of a chapter.
#pragma once

#include "verdict/catalog.h"

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
}

namespace rankbox::cli {

void add_check(CLI::App& app);

/// Grades the learner's file as `check NAME` does: prints and records the verdict. Returns whether
/// it passes. REQUIRES: an InterruptGuard lives.
bool check_own_file(const Exercise& exercise);

}  // namespace rankbox::cli
