#include "cli/support/paths.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/support/options.h"
#include "comm/errors.h"

namespace rankbox::cli {

namespace fs = std::filesystem;

namespace {

constexpr const char* kCourse = "RANKBOX_COURSE";

std::string find_root() {
  if (const char* given = std::getenv("RANKBOX_ROOT"); given != nullptr && *given != '\0') {
    if (fs::exists(fs::path(given) / "comm/comm.h")) return fs::absolute(given).lexically_normal();
    throw Error(fmt::format("RANKBOX_ROOT={} holds no Rankbox (no comm/comm.h in it)", given));
  }
  std::error_code ignored;
  for (fs::path folder = fs::current_path(ignored); !folder.empty();
       folder = folder.parent_path()) {
    if (fs::exists(folder / "comm/comm.h") && fs::exists(folder / "exercises")) return folder;
    if (folder == folder.root_path()) break;
  }
  throw Error("this is not inside a Rankbox folder: start ./rankbox there, or set RANKBOX_ROOT");
}

/// @param prefix of the file's name in messages
Registry read_registry(const std::string& folder, const std::string& prefix,
                       const std::string& contracts = "") {
  std::ifstream file(folder + "/registry.toml");
  if (!file) throw Error(fmt::format("cannot read {}/registry.toml", folder));
  const std::string text(std::istreambuf_iterator<char>(file), {});
  return parse_registry(text, prefix + "registry.toml", contracts);
}

}  // namespace

const std::string& project_root() {
  static const std::string root = find_root();
  return root;
}

void use_course(const std::string& folder) {
  if (folder.empty()) {
    use_registry(project_registry);
    return;
  }
  const fs::path path = fs::absolute(folder).lexically_normal();
  const std::string root = (path.has_filename() ? path : path.parent_path()).string();
  if (!fs::exists(root + "/registry.toml")) {
    throw InvalidArgument(
        fmt::format("--course {}: there is no registry.toml in it; make one, with a "
                    "[[chapter]] (folder, title)",
                    folder));
  }
  setenv(kCourse, root.c_str(), 1);
  use_registry([root] {
    Registry course = read_registry(root, root + "/", "contracts");
    course.folder = root;
    return course;
  });
}

Registry project_registry() { return read_registry(project_root() + "/exercises", "exercises/"); }

const std::string& course_root() {
  return registry().folder.empty() ? project_root() : registry().folder;
}

std::string absolute_path(const std::string& path) { return fs::path(project_root()) / path; }

std::string state_folder() { return course_root() + "/.rankbox"; }

std::vector<std::string> nearest_names(const std::string& text) {
  std::vector<std::string> names;
  for (const Exercise& exercise : exercises()) names.push_back(exercise.name);
  return nearest_of(text, names, 3);
}

std::string text_of(const std::string& path) {
  std::ifstream file(absolute_path(path), std::ios::binary);
  if (!file) throw Error(fmt::format("cannot read {}", path));
  return {std::istreambuf_iterator<char>(file), {}};
}

const Exercise& exercise_named(const std::string& text) {
  const std::string name = fs::path(text).stem().string();
  if (const Exercise* exercise = find_exercise(name)) return *exercise;
  const std::vector<std::string> near = nearest_names(name);
  throw InvalidArgument(
      near.empty() ? fmt::format("there is no exercise '{}'; ./rankbox list shows all", text)
                   : fmt::format("there is no exercise '{}'; did you mean {}?", text,
                                 fmt::join(near, " or ")));
}

void require_readable(const std::string& file) {
  if (fs::is_directory(file))
    throw InvalidArgument(fmt::format("{} is a folder, not a file", file));
  if (!fs::exists(file)) {
    const bool has_source = fs::exists(file + ".cc");
    throw InvalidArgument(
        fmt::format("there is no file {}{}", file,
                    has_source ? fmt::format("; did you mean {}.cc?", file) : ""));
  }
  // Reading a pipe or a device would wait, or never end.
  if (!fs::is_regular_file(file))
    throw InvalidArgument(fmt::format("{} is no regular file: give a source file", file));
  if (!std::ifstream(file)) throw InvalidArgument(fmt::format("cannot read {}", file));
}

std::string display_path(const std::string& path) {
  // First as written, then with symbolic links resolved: either may lie outside the root.
  std::error_code ignored;
  const fs::path full = fs::absolute(path, ignored).lexically_normal();
  for (const auto& [file, root] : {std::pair(full, fs::path(project_root())),
                                   std::pair(fs::weakly_canonical(full, ignored),
                                             fs::weakly_canonical(project_root(), ignored))}) {
    const fs::path relative = file.lexically_relative(root);
    if (!relative.empty() && *relative.begin() != "..") return relative.string();
  }
  return path;
}

}  // namespace rankbox::cli
