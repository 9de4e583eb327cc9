// The grades of a class as text for a terminal.
#pragma once

#include <string>

#include "cli/grade/class_report.h"

namespace rankbox::cli {

/// Returns a table of students by exercises, what became of each exercise, the pairs to look at,
/// and what is not graded; lines of at most 100 columns but for file names. Of large classes only
/// the first students are shown.
std::string summary_of(const ClassReport& report);

}  // namespace rankbox::cli
