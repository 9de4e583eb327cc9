#include "cli/grade/class_report.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "cli/grade/result.h"
#include "judge/verdict_text.h"

namespace rankbox::cli {

const char* name_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::kPass:
      return "pass";
    case Outcome::kFail:
      return "fail";
    case Outcome::kNotImplemented:
      return "not_implemented";
    case Outcome::kMissing:
      return "missing";
    case Outcome::kError:
      break;
  }
  return "error";
}

double StudentGrade::points() const {
  double sum = 0;
  for (const ExerciseGrade& grade : exercises) sum += grade.points;
  return rounded_points(sum);
}

double StudentGrade::most() const {
  double sum = 0;
  for (const ExerciseGrade& grade : exercises) sum += grade.most;
  return rounded_points(sum);
}

double StudentGrade::seconds() const {
  double sum = 0;
  for (const ExerciseGrade& grade : exercises) sum += grade.result.seconds;
  return sum;
}

bool StudentGrade::is_complete() const {
  return std::ranges::none_of(
      exercises, [](const ExerciseGrade& grade) { return grade.outcome == Outcome::kError; });
}

int ClassReport::count(Outcome outcome) const {
  int sum = 0;
  for (std::size_t i = 0; i < exercises.size(); ++i) sum += count(outcome, i);
  return sum;
}

int ClassReport::count(Outcome outcome, std::size_t exercise) const {
  return static_cast<int>(std::ranges::count_if(students, [&](const StudentGrade& student) {
    return student.exercises[exercise].outcome == outcome;
  }));
}

std::string reason(const ExerciseGrade& grade) {
  if (grade.outcome == Outcome::kPass) return "";
  if (grade.outcome == Outcome::kMissing) {
    const std::string missing = "no file was handed in";
    return grade.near_miss.empty() ? missing : missing + "; " + grade.near_miss;
  }
  if (grade.outcome == Outcome::kNotImplemented) return "not implemented yet";
  const std::string message =
      grade.result.verdict.failure ? grade.result.verdict.failure->message : "unknown";
  const std::string line = message.substr(0, message.find('\n'));
  if (grade.outcome == Outcome::kError) return "not graded: " + line;
  const std::string kind = rankbox::name_of(grade.result.verdict.failure->kind);
  return line.starts_with(kind + ":") ? line : fmt::format("{}: {}", kind, line);
}

std::string describe(const ExerciseGrade& grade, const std::string& path) {
  std::string text;
  if (grade.outcome == Outcome::kMissing || grade.outcome == Outcome::kError) {
    text = fmt::format("{}: {}\n", grade.exercise, reason(grade));
  } else {
    text = to_text(with_replay(grade.result.verdict, path));
  }
  if (grade.days_late > 0) text += fmt::format("handed in late, on day {}\n", grade.days_late);
  if (grade.outcome == Outcome::kFail && !grade.result.compiler_output.empty())
    text += "the compiler says:\n" + grade.result.compiler_output + "\n";
  if (!grade.result.printed.empty()) text += "printed:\n" + grade.result.printed + "\n";
  return text;
}

double rounded_points(double points) { return std::round(points * 100) / 100; }

std::string format_points(double points) { return fmt::format("{}", rounded_points(points)); }

}  // namespace rankbox::cli
