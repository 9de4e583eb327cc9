#include "cli/grade/summary.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

namespace rankbox::cli {
namespace {

constexpr std::size_t kNameWidth = 24;
constexpr std::size_t kMostColumns = 60;  // for the marks
constexpr std::size_t kMostStudents = 60;
constexpr std::size_t kMostErrors = 20;
constexpr std::size_t kMostRemarks = 3;  // of a student

constexpr Outcome kOutcomes[] = {Outcome::kPass, Outcome::kFail, Outcome::kNotImplemented,
                                 Outcome::kMissing, Outcome::kError};

const char* mark_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::kPass:
      return "✓";
    case Outcome::kFail:
      return "✗";
    case Outcome::kNotImplemented:
      return "○";
    case Outcome::kMissing:
      return "–";
    case Outcome::kError:
      break;
  }
  return "!";
}

/// Returns the text in exactly this many columns, counting a character as one.
std::string fitted(const std::string& text, std::size_t columns) {
  std::string cut;
  std::size_t used = 0;
  for (const char c : text) {
    const bool begins = (static_cast<unsigned char>(c) & 0xc0) != 0x80;
    if (begins && used == columns) {
      while ((static_cast<unsigned char>(cut.back()) & 0xc0) == 0x80) cut.pop_back();
      cut.back() = ' ';
      return cut;
    }
    if (begins) ++used;
    cut += c == '\n' || c == '\t' ? ' ' : c;
  }
  return cut + std::string(columns - used, ' ');
}

/// Returns the numbers of the chapters above the first exercise of each.
std::string heading(const ClassReport& report, std::size_t width) {
  std::string numbers(report.exercises.size() * width + 2, ' ');
  int chapter = 0;
  for (std::size_t i = 0; i < report.exercises.size(); ++i) {
    if (report.exercises[i]->chapter == chapter) continue;
    chapter = report.exercises[i]->chapter;
    const std::string number = std::to_string(chapter);
    if (i == 0 || numbers[i * width - 1] == ' ') numbers.replace(i * width, number.size(), number);
  }
  return std::string(kNameWidth, ' ') + numbers;
}

std::string row_of(const StudentGrade& student, std::size_t width) {
  std::string row = fitted(student.name, kNameWidth - 1) + " ";
  int late = 0;
  for (const ExerciseGrade& grade : student.exercises) {
    row += mark_of(grade.outcome) + std::string(width - 1, ' ');
    if (grade.days_late > 0) ++late;
  }
  row += student.is_complete() ? fmt::format("  {} of {}", format_points(student.points()),
                                             format_points(student.most()))
                               : "  not all graded";
  return row + (late > 0 ? fmt::format(", {} late\n", late) : "\n");
}

std::string counts_of(const ClassReport& report) {
  std::string text = fmt::format("\n{:<31}", "");
  for (const Outcome outcome : kOutcomes) text += fmt::format("{:>7}", mark_of(outcome));
  text += '\n';
  for (std::size_t i = 0; i < report.exercises.size(); ++i) {
    const Exercise& exercise = *report.exercises[i];
    text += fmt::format("{:>2} {:<28}", exercise.chapter, exercise.name);
    for (const Outcome outcome : kOutcomes) text += fmt::format("{:>7}", report.count(outcome, i));
    text += '\n';
  }
  return text;
}

std::string errors_of(const ClassReport& report) {
  std::string text;
  std::size_t count = 0;
  for (const StudentGrade& student : report.students) {
    for (const ExerciseGrade& grade : student.exercises) {
      if (grade.outcome != Outcome::kError || ++count > kMostErrors) continue;
      text += fmt::format("  {}, {}: {}\n", student.name, grade.exercise, reason(grade));
    }
  }
  if (count > kMostErrors) text += fmt::format("  … and {} more\n", count - kMostErrors);
  return count == 0 ? ""
                    : fmt::format("\nnot graded, by no fault of a student: {}\n{}", count, text);
}

std::string remarks_of(const ClassReport& report) {
  std::string text;
  const std::size_t shown = std::min(report.students.size(), kMostStudents);
  for (std::size_t i = 0; i < shown; ++i) {
    const StudentGrade& student = report.students[i];
    const std::size_t lines = std::min(student.remarks.size(), kMostRemarks);
    for (std::size_t line = 0; line < lines; ++line)
      text += fmt::format("  {}: {}\n", student.name, student.remarks[line]);
    if (lines < student.remarks.size())
      text += fmt::format("  {}: … more (--html, --format json)\n", student.name);
  }
  return text.empty() ? "" : "\nfiles that were not graded:\n" + text;
}

}  // namespace

std::string summary_of(const ClassReport& report) {
  const std::size_t width = report.exercises.size() * 2 <= kMostColumns ? 2 : 1;
  std::string text = heading(report, width) + "points\n";
  const std::size_t shown = std::min(report.students.size(), kMostStudents);
  for (std::size_t i = 0; i < shown; ++i) text += row_of(report.students[i], width);
  if (shown < report.students.size()) {
    text += fmt::format("… and {} more students (--html, --format csv)\n",
                        report.students.size() - shown);
  }
  text += "✓ passes  ✗ fails  ○ not implemented  – missing  ! not graded\n";
  return text + counts_of(report) + remarks_of(report) + errors_of(report);
}

}  // namespace rankbox::cli
