#include "cli/train/train_files.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <sstream>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "cli/exercise/grade.h"
#include "cli/exercise/progress.h"
#include "cli/exercise/stub.h"
#include "cli/plugin/compile.h"
#include "cli/plugin/precompiled.h"
#include "cli/support/child.h"
#include "cli/support/paths.h"
#include "comm/errors.h"
#include "files/output_file.h"
#include "files/temporary_folder.h"
#include "files/text_digest.h"

namespace rankbox::cli {
namespace {

namespace fs = std::filesystem;

/// A learner's function that the run may call.
struct Candidate {
  const Exercise* exercise = nullptr;
  std::string file;    // an absolute path
  std::string option;  // "--mine zero1=mine.cc"; empty: the learner's exercise
  bool is_checked = true;
};

// ---- Options ----

Candidate named(const std::string& option, const std::string& value) {
  const std::string typed = fmt::format("{} {}", option, value);
  const NamedFile given = named_file(option, value, "give NAME=FILE, or --mine none");
  const Exercise& exercise = exercise_named(given.name);
  const std::string file = fs::absolute(given.file).string();
  require_readable(file);
  return {&exercise, file, typed, option == "--mine"};
}

/// Returns the files that the options name.
std::vector<Candidate> named(const MineOptions& options) {
  std::vector<Candidate> given;
  for (const std::string& value : options.checked) given.push_back(named("--mine", value));
  for (const std::string& value : options.unchecked)
    given.push_back(named("--mine-unchecked", value));
  return given;
}

/// Returns candidates in the order of `called`.
std::vector<Candidate> candidates(const MineOptions& options,
                                  const std::vector<std::string>& called) {
  const std::vector<Candidate> given = named(options);
  for (const Candidate& each : given) {
    if (std::ranges::find(called, each.exercise->name) != called.end()) continue;
    throw InvalidArgument(fmt::format("{}: this run does not call {}, only {}", each.option,
                                      each.exercise->name, fmt::join(called, ", ")));
  }

  std::vector<Candidate> all;
  for (const std::string& name : called) {
    const auto is_it = [&](const Candidate& each) { return each.exercise->name == name; };
    const auto found = std::ranges::find_if(given, is_it);
    if (found != given.end()) {
      if (const auto again = std::find_if(found + 1, given.end(), is_it); again != given.end())
        throw InvalidArgument(
            fmt::format("{} and {}: give one of them", found->option, again->option));
      all.push_back(*found);
      continue;
    }
    const Exercise* exercise = find_exercise(name);
    if (options.none || exercise == nullptr) continue;
    const std::string own = absolute_path(stub_path(*exercise));
    if (fs::exists(own) && !is_stub(*exercise)) all.push_back({exercise, own, ""});
  }
  return all;
}

// ---- Checking ----

/// Returns "values at exercises/09_sharding/zero1.cc:14".
std::string kind_and_place(const Failure& failure) {
  std::string text = name_of(failure.kind);
  if (!failure.file.empty()) text += " at " + failure.file;
  if (!failure.file.empty() && failure.line > 0) text += fmt::format(":{}", failure.line);
  return text;
}

/// As kind_and_place, with the message, which may have several lines.
std::string in_words(const Failure& failure) {
  return fmt::format("{}: {}", kind_and_place(failure), failure.message);
}

void print_progress(const std::string& doing, const Candidate& candidate) {
  if (isatty(STDERR_FILENO) == 0) return;
  fmt::print(stderr, "rankbox train: {} {}\n", doing, display_path(candidate.file));
}

/// Returns why it does not pass; empty if it does.
std::string complaint_about(const Candidate& candidate) {
  const Exercise& exercise = *candidate.exercise;
  const bool is_own = candidate.option.empty();
  if (is_own) {
    const std::string known = progress_of(exercise);
    if (known == "pass") return "";
    if (known == "fail" || known == "not_implemented")
      return known == "fail" ? "it fails" : "it is not implemented";
  }
  print_progress("checking", candidate);
  GradeOptions grading;
  grading.file = candidate.file;
  grading.command = fmt::format("./rankbox check {}", exercise.name);
  const InterruptGuard guard;  // so that Ctrl-C leaves no files
  const Verdict verdict = grade(exercise, grading).verdict;
  if (is_own) remember(exercise, verdict);
  if (verdict.passed()) return "";
  if (verdict.status == Status::kError) throw Error(verdict.failure->message);
  if (!verdict.failure) return name_of(verdict.status);
  return is_own ? kind_and_place(*verdict.failure) : in_words(*verdict.failure);
}

// ---- Compiling ----

/// Returns whether the text includes files besides the project's headers, whose changes would go
/// undetected.
bool includes_others(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t open = line.find('"');
    std::string before = line.substr(0, open);
    std::erase_if(before, [](char c) { return c == ' ' || c == '\t'; });
    if (open == std::string::npos || before != "#include") continue;
    const std::string name = line.substr(open + 1, line.find('"', open + 1) - open - 1);
    if (!fs::exists(fs::path(project_root()) / name)) return true;
  }
  return false;
}

/// Returns the path of the library, which depends on all of its inputs.
fs::path place_of(const Candidate& candidate, const std::string& backend) {
  std::ifstream file(candidate.file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const char* compiler = std::getenv("CXX");
  std::string key = text + candidate.file + (compiler == nullptr ? "" : compiler) +
                    state_of_headers({"comm", "collectives", "compute", "parallel", "training",
                                      "sim", "mpi", "gpu"});
  if (includes_others(text)) key += fmt::format("{}", getpid());
  return fs::path(project_root()) / ".rankbox" / "mine" / backend /
         fmt::format("{}-{}.so", candidate.exercise->name, text_digest(key));
}

/// Removes libraries of earlier versions. A run in progress has already loaded its own.
void remove_old(const fs::path& folder) {
  std::error_code ignored;
  for (const fs::directory_entry& file : fs::directory_iterator(folder, ignored)) {
    const auto age = fs::file_time_type::clock::now() - fs::last_write_time(file.path(), ignored);
    if (age > std::chrono::hours(24)) fs::remove(file.path(), ignored);
  }
}

/// The library, or the reason why there is none.
struct Library {
  std::string path;
  std::string complaint;
};

Library library_of(const Candidate& candidate, const std::string& backend) {
  const fs::path path = place_of(candidate, backend);
  fs::create_directories(path.parent_path());
  std::error_code ignored;
  if (fs::exists(path)) {
    fs::last_write_time(path, fs::file_time_type::clock::now(), ignored);
    return {path.string(), ""};
  }
  remove_old(path.parent_path());
  print_progress("compiling", candidate);
  const TemporaryFolder folder;
  const std::string library = folder.path("mine.so");
  const InterruptGuard guard;  // so that Ctrl-C leaves no files
  const Compiled compiled = compile(*candidate.exercise, display_path(candidate.file), library,
                                    {.backend = backend, .optimize = true});
  if (compiled.failure) return {"", in_words(*compiled.failure)};
  copy_file_to(library, path);
  return {path.string(), ""};
}

}  // namespace

MineOptions take_mine_options(std::vector<std::string>& arguments) {
  MineOptions options;
  options.checked = take_values("--mine", "give NAME=FILE", arguments);
  options.unchecked = take_values("--mine-unchecked", "give NAME=FILE", arguments);
  options.none = std::erase(options.checked, "none") > 0;
  return options;
}

void check_mine_options(const MineOptions& options) { named(options); }

std::vector<NamedFile> prepare_mine(const MineOptions& options,
                                    const std::vector<std::string>& called,
                                    const std::string& backend) {
  std::vector<NamedFile> files;
  for (const Candidate& candidate : candidates(options, called)) {
    const std::string name = candidate.exercise->name;
    std::string complaint = candidate.is_checked ? complaint_about(candidate) : "";
    Library library;
    if (complaint.empty()) {
      library = library_of(candidate, backend);
      complaint = library.complaint;
    }
    if (complaint.empty()) {
      files.push_back({name, library.path});
    } else if (candidate.option.empty()) {
      fmt::print(stderr,
                 "rankbox train: {} is the reference's, since yours does not pass ({}); ./rankbox "
                 "check {} explains it\n",
                 name, complaint, name);
    } else if (candidate.is_checked) {
      throw Error(fmt::format("{} does not pass: {}; --mine-unchecked runs it anyway",
                              candidate.option, complaint));
    } else {
      throw Error(fmt::format("{} does not compile: {}", candidate.option, complaint));
    }
  }
  return files;
}

}  // namespace rankbox::cli
