#include "cli/grade/formats/formats.h"

namespace rankbox::cli {

namespace {

/// Returns the field in quotes. A spreadsheet takes what begins with these for a formula, or skips
/// white space before one; an apostrophe makes it text.
std::string field(const std::string& text) {
  std::string quoted = "\"";
  if (!text.empty() && std::string("=+-@\t\r\n").find(text.front()) != std::string::npos)
    quoted += '\'';
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
