// From submissions to the grades of a class.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/grade/class_report.h"
#include "cli/grade/grade_all.h"
#include "cli/grade/scheme.h"
#include "cli/grade/submissions.h"

namespace rankbox::cli {

/// Returns the exercises that `words` name, in the order of the course: names, or chapters as
/// "02_broadcast" or "2". Without words: those of the scheme's table of points; without one, all of
/// which anyone handed in a file. Throws InvalidArgument for a word that names nothing, and if no
/// exercise is left.
std::vector<const Exercise*> exercises_to_grade(const std::vector<std::string>& words,
                                                const Scheme& scheme,
                                                const std::vector<Student>& students);

/// Grades the exercises of all students. Blocks until done; see grade_all().
ClassReport grade_class(const std::vector<Student>& students,
                        const std::vector<const Exercise*>& exercises, const Scheme& scheme,
                        ResultStore& store, const GradeAllOptions& options);

}  // namespace rankbox::cli
