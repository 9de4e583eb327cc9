#include <algorithm>
#include <string_view>

#include "cli/grade/formats/formats.h"

namespace rankbox::cli {

namespace {

/// Returns whether a spreadsheet takes the text for a formula, or skips white space before one.
bool may_be_formula(const std::string& text) {
  constexpr std::string_view kFronts[] = {"=",  "+",  "-",  "@",  "\t", "\r",
                                          "\n", "＝", "＋", "－", "＠"};
  return std::ranges::any_of(kFronts,
                             [&](std::string_view front) { return text.starts_with(front); });
}

/// Returns the field in quotes. An apostrophe makes a formula text.
std::string field(const std::string& text) {
  std::string quoted = "\"";
  if (may_be_formula(text)) quoted += '\'';
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c == '\n' || c == '\r' ? ' ' : c;
  }
  return quoted + '"';
}

}  // namespace

std::string to_csv(const ClassReport& report) {
  // Canvas requires its first five columns under these names. An empty cell leaves a grade as it is
  // there: what is not graded must not become 0.
  std::string text = "Student,ID,SIS User ID,SIS Login ID,Section";
  for (const Exercise* exercise : report.exercises) text += "," + field(exercise->name);
  text += ",Total\r\n";
  for (const StudentGrade& student : report.students) {
    text += field(student.name) + "," + field(student.number.empty() ? student.id : student.number);
    text += ",," + field(student.email) + ",";
    for (const ExerciseGrade& grade : student.exercises) {
      text += ',';
      if (grade.outcome != Outcome::kError) text += format_points(grade.points);
    }
    text += ',';
    if (student.is_complete()) text += format_points(student.points());
    text += "\r\n";
  }
  return text;
}

}  // namespace rankbox::cli
