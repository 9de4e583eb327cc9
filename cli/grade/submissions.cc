#include "cli/grade/submissions.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <system_error>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <sys/stat.h>

#include "cli/grade/flat_name.h"
#include "cli/grade/gradescope_export.h"
#include "cli/grade/near_miss.h"
#include "comm/errors.h"
#include "exercises/registry.h"
#include "files/foreign_file.h"
#include "files/git_blob.h"
#include "judge/visible_text.h"

namespace rankbox::cli {
namespace {

namespace fs = std::filesystem;

// Bounds for archives that were made to be large.
constexpr int kDeepest = 12;
constexpr int kMostEntries = 20'000;
constexpr std::size_t kMostRemarks = 20;
constexpr std::size_t kMostStubBytes = std::size_t{64} << 10;

/// A file that may be a student's, before the choice among several of an exercise.
struct Candidate {
  std::string exercise;
  fs::path path;
  int version = 0;            // of a file that was handed in again
  bool in_exercises = false;  // below exercises/, as in a clone of this project
  int depth = 0;
  bool is_late = false;
  bool is_stub = false;  // set by choose()
};

/// Returns whether the file is the stub, which a clone has for all exercises. Git may have changed
/// its line ends.
bool is_stub_of(const Exercise& exercise, const fs::path& path) {
  std::optional<std::string> text = read_foreign_file(path.string(), kMostStubBytes);
  if (!text) return false;
  std::erase(*text, '\r');
  return git_blob_id(*text).starts_with(exercise.stub);
}

bool is_archive(const fs::path& path) {
  static const std::set<std::string> endings = {".zip", ".tar", ".gz",  ".tgz", ".xz", ".txz",
                                                ".bz2", ".tbz", ".zst", ".7z",  ".rar"};
  return endings.contains(lower_case(path.extension().string()));
}

/// Returns why a folder cannot be read; empty if it can.
std::string reading_problem(const fs::path& folder) {
  std::error_code error;
  const fs::directory_iterator opened(folder, error);
  return error ? fmt::format("cannot read {}: {}", folder.string(), error.message()) : "";
}

/// Returns whether this is a clone of the project, which has a file of many names of exercises.
bool is_clone(const fs::path& folder) {
  std::error_code ignored;  // a student's links may lead in a circle
  return fs::exists(folder / "exercises/registry.toml", ignored);
}

/// Returns whether a folder of a clone is the project's own, and not one that a student added.
bool is_of_project(const fs::path& folder) {
  std::error_code ignored;
  return folder.filename() != "exercises" && is_clone(folder.parent_path()) &&
         fs::exists(fs::symlink_status(folder / "BUILD.bazel", ignored));
}

/// Returns whether a folder of this name holds nothing that a student wrote: a clone of the project
/// has a file of each exercise in solutions/ and tests/ too.
bool is_skipped(const std::string& folder) {
  static const std::set<std::string> skipped = {"solutions", "tests", "build", "__MACOSX"};
  return folder.starts_with('.') || folder.starts_with("bazel-") || skipped.contains(folder);
}

std::int64_t time_of(const fs::path& path) {
  struct stat found = {};
  return lstat(path.c_str(), &found) == 0 ? static_cast<std::int64_t>(found.st_mtime) : 0;
}

void remark(Student& student, const std::string& text) {
  student.remarks.push_back(visible_name(text));
}

void remark(Student& student, const NearMiss& missed) {
  remark(student, missed.why);
  student.near_misses.try_emplace(missed.exercise, student.remarks.back());
}

/// Removes the lines after the first ones. Returns their number.
std::size_t cut(std::vector<std::string>& lines) {
  if (lines.size() <= kMostRemarks) return 0;
  const std::size_t more = lines.size() - kMostRemarks;
  lines.resize(kMostRemarks);
  return more;
}

/// Adds the best candidate of each exercise.
void choose(Student& student, std::vector<Candidate> candidates) {
  for (Candidate& each : candidates) {
    const Exercise* const exercise = find_exercise(each.exercise);
    each.is_stub = exercise != nullptr && is_stub_of(*exercise, each.path);
  }
  std::ranges::sort(candidates, [](const Candidate& a, const Candidate& b) {
    const auto key = [](const Candidate& each) {
      return std::tuple(each.exercise, each.is_stub, !each.in_exercises, -each.version, each.depth,
                        -time_of(each.path), each.path);
    };
    return key(a) < key(b);
  });
  std::vector<std::string> own;  // come last, since there may be many
  for (const Candidate& each : candidates) {
    if (find_exercise(each.exercise) == nullptr) {
      const std::string name = each.exercise + each.path.extension().string();
      const NearMiss missed = near_miss(name);
      if (missed.why.empty()) own.push_back(name + ": there is no exercise of this name");
      if (!missed.why.empty()) remark(student, missed);
    } else if (!student.files.empty() && student.files.back().exercise == each.exercise) {
      if (each.is_stub) continue;  // a clone has one of each
      remark(student, fmt::format("{} is not graded, but {}", each.path.string(),
                                  student.files.back().path));
    } else {
      student.files.push_back(
          {each.exercise, each.path.string(), time_of(each.path), each.is_late});
    }
  }
  for (const std::string& line : own) remark(student, line);
  student.more_remarks = cut(student.remarks);
}

void remark_unreadable(Student& student, const std::string& problem) {
  if (problem.empty()) return;
  remark(student, problem);
  if (student.unreadable.empty()) student.unreadable = visible_name(problem);
}

/// Returns whether a file below the folder, among the first thousands, is named after an exercise.
bool has_work(const fs::path& folder) {
  std::error_code error;
  int entries = 0;
  for (auto entry = fs::recursive_directory_iterator(folder, error);
       !error && entry != fs::recursive_directory_iterator() && ++entries < kMostEntries / 10;
       entry.increment(error)) {
    const fs::path& path = entry->path();
    if (is_source(path) && find_exercise(path.stem().string()) != nullptr) return true;
  }
  return false;
}

std::vector<Candidate> sources_below(const fs::path& root, Student& student) {
  std::vector<Candidate> found;
  int entries = 0;
  remark_unreadable(student, reading_problem(root));
  const auto options = fs::directory_options::skip_permission_denied;
  for (auto entry = fs::recursive_directory_iterator(root, options);
       entry != fs::recursive_directory_iterator(); ++entry) {
    if (++entries > kMostEntries) {
      remark(student, fmt::format("only the first {} files were looked at", kMostEntries));
      break;
    }
    const fs::path& path = entry->path();
    std::error_code ignored;  // of a folder whose files have names and nothing more
    const bool is_folder = entry->symlink_status(ignored).type() == fs::file_type::directory;
    const bool is_deep = is_folder && entry.depth() >= kDeepest;
    const bool is_left_out =
        is_folder && (is_skipped(path.filename().string()) || is_of_project(path) || is_deep);
    if (is_left_out) {
      entry.disable_recursion_pending();
      const std::string name = path.lexically_relative(root).string();
      if (is_deep) remark(student, name + " is too deep in folders: not looked at");
      if (!is_deep && !is_clone(path.parent_path()) && path.filename() != ".git" && has_work(path))
        remark(student, name + " is not looked at: rename it, if it is the student's work");
    }
    if (is_folder && !is_left_out) remark_unreadable(student, reading_problem(path));
    if (is_folder || path.filename().string().starts_with("._")) continue;
    if (is_hidden(path) || !is_source(path)) {
      if (const NearMiss missed = near_miss(path); !missed.why.empty()) remark(student, missed);
      if (is_archive(path)) remark(student, path.filename().string() + " is packed: unpack it");
      continue;
    }
    const fs::path inside = path.lexically_relative(root);
    const bool in_exercises = std::ranges::find(inside, fs::path("exercises")) != inside.end();
    // Beside its chapters, a clone has files of the project.
    const bool is_known =
        find_exercise(path.stem().string()) != nullptr || !near_miss(path).why.empty();
    const fs::path folder = path.parent_path();
    if (!is_known && folder.filename() == "exercises" && is_clone(folder.parent_path())) continue;
    found.push_back({path.stem().string(), path, 0, in_exercises, entry.depth()});
  }
  return found;
}

Student student_in(const fs::path& folder, const std::string& id) {
  Student student{.id = id, .name = visible_name(id)};
  choose(student, sources_below(folder, student));
  return student;
}

using Lines = std::vector<std::string>;

void leave_out(Lines* left_out, const fs::path& path, const std::string& why) {
  if (left_out != nullptr) left_out->push_back(visible_name(path.filename().string() + why));
}

/// Returns what is in the folder and not hidden, sorted. Hidden work of a student is named.
std::vector<fs::path> entries_of(const fs::path& folder, Lines* left_out) {
  std::vector<fs::path> entries;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const fs::path& path = entry.path();
    if (!is_hidden(path)) {
      entries.push_back(path);
      continue;
    }
    const bool is_folder = fs::is_directory(fs::symlink_status(path));
    const bool is_work =
        is_folder ? !student_in(path, "").files.empty()
                  : !likely_name(path).empty() && !path.filename().string().starts_with("._");
    if (is_work) leave_out(left_out, path, " is hidden: rename it");
  }
  std::ranges::sort(entries);
  return entries;
}

/// Returns a line about the archives in the folder; empty if there are none.
std::string packed_in(const fs::path& folder) {
  std::set<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    if (is_archive(entry.path())) names.insert(entry.path().filename().string());
  if (names.empty()) return "";
  if (names.size() == 1) return visible_name(*names.begin() + " is packed: unpack it");
  return visible_name(
      fmt::format("{} and {} more are packed: unpack them", *names.begin(), names.size() - 1));
}

std::vector<Student> students_in_folders(const fs::path& root, Lines* left_out) {
  std::vector<Student> students;
  for (const fs::path& path : entries_of(root, left_out)) {
    const std::string name = path.filename().string();
    if (fs::is_directory(fs::symlink_status(path))) {
      if (name != "__MACOSX") students.push_back(student_in(path, name));
    } else if (fs::is_symlink(fs::symlink_status(path)) && likely_name(path).empty()) {
      leave_out(left_out, path, " is a link, and not followed: copy what it leads to");
    } else if (!likely_name(path).empty()) {
      leave_out(left_out, path, " is not graded: it lies beside the students' folders");
    }
  }
  return students;
}

std::vector<Student> single_student(const fs::path& root) {
  fs::path folder = fs::weakly_canonical(root);
  return {student_in(root, folder.has_filename() ? folder.filename().string() : "student")};
}

std::vector<Student> students_by_names(const fs::path& root,
                                       std::optional<FlatName> (*parse)(const std::string&),
                                       Lines* left_out) {
  std::map<std::string, std::pair<Student, std::vector<Candidate>>> students;
  for (const fs::path& path : entries_of(root, left_out)) {
    if (fs::is_directory(fs::symlink_status(path)) && path.filename() != "__MACOSX")
      leave_out(left_out, path, " is a folder, and not looked into: this layout has none");
    const std::optional<FlatName> name = parse(path.stem().string());
    if (!is_source(path) || !name) {
      const std::string missed =
          near_miss(name ? fs::path(name->exercise + path.extension().string()) : path).why;
      if (name && !missed.empty()) leave_out(left_out, path, " is not graded: " + missed);
      if (!name && !likely_name(path).empty())
        leave_out(left_out, path, " is not graded: its name names no student");
      continue;
    }
    const std::string id =
        name->number.empty() ? name->student : fmt::format("{}_{}", name->student, name->number);
    auto& [student, candidates] = students[id];
    student.id = id;
    student.name = visible_name(name->student);
    student.number = name->number;
    candidates.push_back({.exercise = name->exercise,
                          .path = path,
                          .version = name->version,
                          .is_late = name->is_late});
  }
  std::vector<Student> all;
  for (auto& [id, entry] : students) {
    choose(entry.first, std::move(entry.second));
    all.push_back(std::move(entry.first));
  }
  return all;
}

/// Two submissions of one student are two rows with one number: grade books take one of them.
void remark_equal_numbers(std::vector<Student>& students) {
  std::map<std::string, std::string> owners;  // [number] id of the first student
  for (Student& student : students) {
    if (student.number.empty()) continue;
    const auto [owner, is_new] = owners.try_emplace(student.number, student.id);
    if (!is_new)
      remark(student, fmt::format("{} has the number {}, too", owner->second, student.number));
  }
}

std::vector<Student> read_layout(const fs::path& folder, const std::string& layout,
                                 Lines* left_out) {
  if (layout == "single") return single_student(folder);
  if (layout == "flat") return students_by_names(folder, parse_flat, left_out);
  if (layout == "canvas") return students_by_names(folder, parse_canvas, left_out);
  std::vector<Student> students = students_in_folders(folder, left_out);
  if (layout == "gradescope") add_gradescope_metadata(students, folder.string());
  return students;
}

}  // namespace

std::vector<std::string> shortened(std::vector<std::string> lines, std::size_t more) {
  more += cut(lines);
  if (more > 0) lines.push_back(fmt::format("… and {} more", more));
  return lines;
}

std::vector<Student> find_submissions(const std::string& folder, const std::string& layout,
                                      std::vector<std::string>* left_out) {
  if (!fs::is_directory(folder))
    throw InvalidArgument(fmt::format("{} is no folder of submissions", folder));
  std::vector<Student> students;
  std::string packed;
  try {
    students = read_layout(folder, layout, left_out);
    remark_equal_numbers(students);
    if (layout != "single") packed = packed_in(folder);
  } catch (const fs::filesystem_error& error) {
    throw InvalidArgument(fmt::format("cannot read {}: {}", folder, error.code().message()));
  }
  if (students.empty()) {
    throw InvalidArgument(fmt::format("no submissions in {} in the layout '{}': {}", folder, layout,
                                      packed.empty() ? "choose another --layout" : packed));
  }
  if (left_out != nullptr) {
    if (!packed.empty()) left_out->insert(left_out->begin(), packed);
    *left_out = shortened(std::move(*left_out));
  }
  return students;
}

}  // namespace rankbox::cli
