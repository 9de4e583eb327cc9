// Grades in the formats that other programs read.
//
// The names of fields are those of the formats. In what a student sees, replay lines are about
// their own file in exercises/; in what an instructor sees, about the file that was handed in. What
// is an error of ours has no points and no "failed" in any of them.
#pragma once

#include <string>
#include <vector>

#include "cli/grade/class_report.h"

namespace rankbox::cli {

/// Gradescope's results/results.json.
std::string to_gradescope(const StudentGrade& student, const ClassReport& report);

/// The results.json of Exercism's test runners, version 3.
std::string to_exercism(const StudentGrade& student);

/// The result.json of GitHub Classroom's and Classroom 50's graders, version 1.
std::string to_classroom50(const StudentGrade& student);

/// JUnit's XML: a suite for each student, a case for each exercise.
std::string to_junit(const ClassReport& report);

/// A row for each student, for the grade books of Canvas and Moodle.
std::string to_csv(const ClassReport& report);

/// Everything, as one object; docs/grading.md describes it.
std::string to_json(const ClassReport& report);

/// A page for any browser, with nothing to load: a table of the class, how each exercise went,
/// every failure with its place, replay line and picture. All of it is reached with the keyboard.
/// Its own sources are in cli/grade/page/.
std::string to_html(const ClassReport& report);

}  // namespace rankbox::cli
