#include "cli/grade/grade_class.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "cli/support/paths.h"
#include "comm/errors.h"
#include "judge/visible_text.h"

namespace rankbox::cli {
namespace {

/// Returns the chapter of that folder or number; null if there is none.
const Chapter* chapter_named(const std::string& word) {
  const auto found = std::ranges::find_if(chapters(), [&](const Chapter& chapter) {
    return chapter.folder == word || std::to_string(chapter.number) == word;
  });
  return found == chapters().end() ? nullptr : &*found;
}

std::set<std::string> names_of(const std::vector<std::string>& words) {
  std::set<std::string> names;
  for (const std::string& word : words) {
    const Chapter* chapter = chapter_named(word);
    if (chapter == nullptr) {
      names.insert(exercise_named(word).name);
      continue;
    }
    for (const Exercise& exercise : exercises())
      if (exercise.chapter == chapter->number) names.insert(exercise.name);
  }
  return names;
}

Outcome outcome_of(const Verdict& verdict) {
  switch (verdict.status) {
    case Status::kPass:
      return Outcome::kPass;
    case Status::kFail:
      return Outcome::kFail;
    case Status::kNotImplemented:
      return Outcome::kNotImplemented;
    case Status::kError:
      break;
  }
  return Outcome::kError;
}

ExerciseGrade grade_of(GradingTask& task, const Scheme& scheme) {
  ExerciseGrade grade;
  grade.exercise = task.exercise->name;
  grade.most = rounded_points(points_of(scheme, *task.exercise));
  grade.outcome = outcome_of(task.result.verdict);
  grade.file = visible_name(task.file->path);
  grade.days_late = days_late(scheme, task.file->time);
  if (scheme.due && task.file->is_late) grade.days_late = std::max(grade.days_late, 1);
  if (grade.outcome != Outcome::kError) {
    grade.points = rounded_points(grade.most * share_of(scheme, task.result.verdict) *
                                  share_after(scheme, grade.days_late));
  }
  grade.result = std::move(task.result);
  grade.code = std::move(task.code);
  return grade;
}

/// Returns the grade without a file. Where a folder cannot be read, the file may be in there.
ExerciseGrade missing(const Student& student, const Exercise& exercise, const Scheme& scheme) {
  ExerciseGrade grade{.exercise = exercise.name,
                      .most = rounded_points(points_of(scheme, exercise))};
  if (const auto missed = student.near_misses.find(exercise.name);
      missed != student.near_misses.end())
    grade.near_miss = missed->second;
  if (student.unreadable.empty()) return grade;
  grade.outcome = Outcome::kError;
  grade.result.verdict = error_of_ours(exercise.name, visible_text(student.unreadable));
  return grade;
}

/// Returns the names by which students are told apart: with the id where several have the same.
std::vector<std::string> unique_names(const std::vector<Student>& students) {
  std::map<std::string, int> count;
  for (const Student& student : students) ++count[student.name];
  std::vector<std::string> names;
  for (const Student& student : students) {
    names.push_back(count[student.name] == 1
                        ? student.name
                        : fmt::format("{} ({})", student.name, visible_name(student.id)));
  }
  return names;
}

/// Returns the students' ids as they are shown, made unique: names of folders may differ only in
/// characters that cannot be shown.
std::vector<std::string> unique_ids(const std::vector<Student>& students) {
  std::vector<std::string> ids;
  std::set<std::string> seen;
  for (const Student& student : students) {
    std::string id = visible_name(student.id);
    while (!seen.insert(id).second) id += "_";
    ids.push_back(id);
  }
  return ids;
}

/// Returns the lines about the student's files. Those about headers come first: a program may not
/// compile without them. Several files may have the same headers beside them.
std::vector<std::string> remarks_of(const Student& student,
                                    const std::vector<std::string>& headers) {
  std::vector<std::string> lines;
  for (const std::string& line : headers)
    if (std::ranges::find(lines, line) == lines.end()) lines.push_back(line);
  lines.insert(lines.end(), student.remarks.begin(), student.remarks.end());
  return shortened(std::move(lines), student.more_remarks);
}

}  // namespace

std::vector<const Exercise*> exercises_to_grade(const std::vector<std::string>& words,
                                                const Scheme& scheme,
                                                const std::vector<Student>& students) {
  std::set<std::string> names = names_of(words);
  if (names.empty()) {
    for (const auto& [name, points] : scheme.points) names.insert(name);
  }
  if (names.empty()) {
    for (const Student& student : students)
      for (const SubmittedFile& file : student.files) names.insert(file.exercise);
  }
  std::vector<const Exercise*> chosen;
  for (const Exercise& exercise : exercises())
    if (names.contains(exercise.name)) chosen.push_back(&exercise);
  if (!chosen.empty()) return chosen;
  for (const Student& student : students)
    if (!student.unreadable.empty()) throw InvalidArgument(student.unreadable);
  throw InvalidArgument(
      "no submission has an exercise: name each file after its exercise, as in broadcast_tree.cc");
}

ClassReport grade_class(const std::vector<Student>& students,
                        const std::vector<const Exercise*>& exercises, const Scheme& scheme,
                        ResultStore& store, const GradeAllOptions& options) {
  std::vector<GradingTask> tasks;
  for (std::size_t i = 0; i < students.size(); ++i) {
    for (const Exercise* exercise : exercises) {
      const auto& files = students[i].files;
      const auto file = std::ranges::find(files, exercise->name, &SubmittedFile::exercise);
      if (file != files.end())
        tasks.push_back({.student = i, .file = &*file, .exercise = exercise});
    }
  }
  grade_all(tasks, store, options);

  ClassReport report;
  report.salt = options.file.salt;
  report.sealed = options.file.sealed;
  report.exercises = exercises;
  const std::vector<std::string> names = unique_names(students);
  const std::vector<std::string> ids = unique_ids(students);
  auto task = tasks.begin();
  for (std::size_t i = 0; i < students.size(); ++i) {
    const Student& student = students[i];
    StudentGrade graded{.id = ids[i],
                        .name = names[i],
                        .number = student.number,
                        .email = student.email,
                        .exercises = {},
                        .remarks = {}};
    std::vector<std::string> headers;
    for (const Exercise* exercise : exercises) {
      const bool handed_in =
          task != tasks.end() && task->student == i && task->exercise == exercise;
      if (handed_in) headers.insert(headers.end(), task->left_out.begin(), task->left_out.end());
      graded.exercises.push_back(handed_in ? grade_of(*task++, scheme)
                                           : missing(student, *exercise, scheme));
    }
    graded.remarks = remarks_of(student, headers);
    report.students.push_back(std::move(graded));
  }
  return report;
}

}  // namespace rankbox::cli
