// The grades of a class, as plain data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/grade/code_excerpt.h"
#include "cli/grade/result.h"
#include "exercises/registry.h"

namespace rankbox::cli {

/// What became of one exercise of one student. kError is a failure of ours, or work that a time
/// limit left undone: it is no grade.
enum class Outcome { kPass, kFail, kNotImplemented, kMissing, kError };

/// Returns the word used in all formats: "pass", "fail", "not_implemented", "missing", "error".
const char* name_of(Outcome outcome);

struct ExerciseGrade {
  std::string exercise;
  Outcome outcome = Outcome::kMissing;
  double points = 0;
  double most = 0;
  int days_late = 0;
  std::string file = {};       // that was graded; empty if there is none
  std::string near_miss = {};  // about a file that may have been meant; empty if there is none
  GradeResult result = {};     // if there is a file
  CodeExcerpt code = {};       // of a program that fails, for the page; no text: none
};

struct StudentGrade {
  std::string id;  // fit for the name of a file
  std::string name;
  std::string number = {};                    // on the platform; empty: unknown
  std::string email = {};                     // likewise
  std::vector<ExerciseGrade> exercises = {};  // in the order of ClassReport::exercises
  std::vector<std::string> remarks = {};

  double points() const;
  double most() const;
  double seconds() const;
  /// Returns whether every exercise has a grade.
  bool is_complete() const;
};

struct ClassReport {
  std::string title;
  std::uint64_t salt = 0;  // of all files; 0: each has its own
  bool sealed = true;
  std::vector<const Exercise*> exercises;  // in the order of the course
  std::vector<StudentGrade> students;

  /// Returns the number of grades with this outcome, of all students or in one exercise.
  int count(Outcome outcome) const;
  int count(Outcome outcome, std::size_t exercise) const;
};

/// Returns why something is not graded, or how it failed, in one line; "" for a pass.
std::string reason(const ExerciseGrade& grade);

/// Returns the report with student-specific lines of text about a grade: the verdict as `check`
/// prints it, lateness, what was printed.
/// @param path of the file in replay lines; empty: the student's own
std::string describe(const ExerciseGrade& grade, const std::string& path = "");

/// Returns points with at most two decimals: "12", "3.5".
std::string format_points(double points);

/// Returns the points with two decimals: what every format has, so that sums agree.
double rounded_points(double points);

}  // namespace rankbox::cli
