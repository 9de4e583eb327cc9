#include "tests/cli/command.h"

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

#include <fmt/format.h>

#include "cli/support/child.h"
#include "cli/support/exec.h"
#include "judge/verdict_json.h"

namespace rankbox {

namespace fs = std::filesystem;

namespace {

std::string environment(const char* name, const std::string& otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : value;
}

/// Returns the folder of the test's files under Bazel; without Bazel, the current one.
const fs::path& sources() {
  static const fs::path path = [] {
    const fs::path runfiles = environment("TEST_SRCDIR", "");
    return runfiles.empty() ? fs::current_path() : runfiles / environment("TEST_WORKSPACE", "");
  }();
  return path;
}

std::string make_project() {
  const fs::path root = fs::path(environment("TEST_TMPDIR", "/tmp")) / "project";
  fs::remove_all(root);
  fs::create_directories(root);
  for (const fs::directory_entry& entry : fs::directory_iterator(sources())) {
    const fs::path target = root / entry.path().filename();
    if (entry.path().filename() == "exercises" || entry.path().filename() == "solutions") {
      fs::copy(entry.path(), target, fs::copy_options::recursive);
    } else if (entry.is_directory() && entry.path().filename().string()[0] != '.') {
      fs::create_directory_symlink(entry.path(), target);
    }
  }
  // A learner may have edited the exercises, so tests start from the stubs. `reset` takes those
  // from git.
  fs::copy(sources().parent_path() / "course/stubs", root / "exercises",
           fs::copy_options::recursive | fs::copy_options::overwrite_existing);
  const std::string keep =
      fmt::format("cd '{}' && git init -q && git hash-object -w exercises/*/*.cc", root.string());
  if (std::system((keep + " >/dev/null").c_str()) != 0) throw std::runtime_error("git failed");
  fs::create_directory(root / "tmp");
  setenv("TMPDIR", (root / "tmp").c_str(), 1);  // any remaining file is from this test
  setenv("RANKBOX_ROOT", root.c_str(), 1);
  setenv("NO_COLOR", "1", 1);
  return root;
}

}  // namespace

const std::string& project() {
  static const std::string path = make_project();
  return path;
}

std::string read_file(const std::string& path) {
  std::ifstream file(fs::path(project()) / path);
  if (!file) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string rankbox_program() { return environment("RANKBOX_CLI", sources() / "cli/rankbox-more"); }

CommandResult rankbox(const std::vector<std::string>& arguments, std::int64_t memory_bytes) {
  return run_program(rankbox_program(), arguments, memory_bytes);
}

CommandResult run_program(const std::string& program, const std::vector<std::string>& arguments,
                          std::int64_t memory_bytes) {
  cli::ChildOptions options;
  options.directory = project();
  options.command = {program};
  options.command.insert(options.command.end(), arguments.begin(), arguments.end());
  options.seconds = 120;
  options.memory_bytes = memory_bytes;
  options.file_bytes = std::int64_t{1} << 30;  // precompiled headers are large
  const cli::ChildResult result = cli::run_child(options);
  if (result.timed_out) throw std::runtime_error("rankbox did not end: " + result.output);
  return {cli::exit_code_of(result.status), result.output};
}

Verdict checked(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "check");
  arguments.emplace_back("--json");
  return verdict_from_json(rankbox(arguments).output);
}

std::vector<Verdict> checked_all(const std::vector<std::vector<std::string>>& checks) {
  project();  // created before threads request it
  std::vector<Verdict> verdicts(checks.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < checks.size(); i = next++) {
      try {
        verdicts[i] = checked(checks[i]);
      } catch (const std::exception& error) {
        // Reported as a verdict, so that it does not hide the others.
        Failure failure;
        failure.message = error.what();
        verdicts[i] = failed_before_running(checks[i].front(), failure);
        verdicts[i].status = Status::kError;
      }
    }
  };
  std::thread other(work);
  work();
  other.join();
  return verdicts;
}

}  // namespace rankbox
