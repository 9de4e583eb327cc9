// Programs that try to pass without being right, or to harm what is around them.
//
// The tables in tests/attacks have them. Each passes only if what it tries works. None may pass, go
// on after its time, leave a process behind, or change a file.
#include "tests/cli/attacks.h"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "cli/support/container.h"
#include "comm/errors.h"
#include "judge/verdict_json.h"
#include "tests/cli/command.h"
#include "tests/support/run_tests.h"
#include "tests/support/text.h"

namespace rankbox {
namespace {

namespace fs = std::filesystem;

constexpr bool kHasSealed = true;  // check --sealed exists

fs::path attacks_folder() { return fs::path(project()) / "tests/attacks"; }

/// Returns a folder with the attacks, as a learner's: no links, but those that an attack needs.
fs::path handed_in(const std::vector<Attack>& attacks) {
  fs::path folder = fs::path(project()) / "handed_in";
  fs::create_directory(folder);
  for (const auto& file : fs::directory_iterator(attacks_folder()))
    if (file.path().extension() == ".h") fs::copy_file(file, folder / file.path().filename());
  for (const Attack& attack : attacks)
    std::ofstream(folder / (attack.name + ".cc")) << attack.program;
  fs::create_symlink(fs::path(project()) / "solutions/02_broadcast/broadcast_naive.cc",
                     folder / "solution_link.h");
  mkfifo((folder / "pipe.h").c_str(), 0600);
  return folder;
}

/// Returns all files around the attacks, with the times of their last changes.
std::map<std::string, std::string> files_now() {
  std::map<std::string, std::string> files;
  for (const auto& file : fs::recursive_directory_iterator(project())) {
    if (file.path() == fs::path(project()) / "tmp") continue;  // files come and go
    struct stat now = {};
    lstat(file.path().c_str(), &now);
    files[file.path().string()] = fmt::format("{} {} {}.{}", now.st_ino, now.st_size,
                                              now.st_ctim.tv_sec, now.st_ctim.tv_nsec);
  }
  return files;
}

/// Returns the files that differ.
std::string changes(const std::map<std::string, std::string>& before) {
  const std::map<std::string, std::string> after = files_now();
  std::string names;
  for (const auto& [name, state] : before) {
    const auto found = after.find(name);
    if (found == after.end() || found->second != state) names += name + " ";
  }
  for (const auto& [name, state] : after) {
    if (!before.contains(name)) names += name + " ";
  }
  return names;
}

/// Returns whether this process has no children but ended ones, for which it waits a
/// minute: an attack that goes on does so for longer.
bool has_no_children() {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (std::chrono::steady_clock::now() < deadline) {
    const pid_t ended = waitpid(-1, nullptr, WNOHANG);
    if (ended < 0) return true;
    if (ended == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

}  // namespace

TEST_CASE("no attack passes, goes on after its time, or leaves anything behind") {
  if (const std::string problem = cli::container_problem(); !problem.empty())
    return testing::pass_over_without_containers(problem);
  const fs::path home = fs::path(project()) / "home";
  fs::create_directory(home);
  std::ofstream(home / ".bashrc") << "echo mine";
  setenv("HOME", home.c_str(), 1);
  const std::vector<Attack> all = attacks_in(attacks_folder());
  const fs::path folder = handed_in(all);
  // Makes the precompiled header, and shows that a right program passes here.
  REQUIRE(checked({"broadcast_naive", "--solution"}).passed());
  prctl(PR_SET_CHILD_SUBREAPER, 1);  // orphans become this process's children

  for (std::size_t row = 0; const Attack& attack : all) {
    if (!testing::wants_row(attack.name) || !testing::is_to_run(row++)) continue;
    std::vector<std::string> check = {"check",
                                      attack.exercise,
                                      "--json",
                                      "--file",
                                      (folder / (attack.name + ".cc")).string(),
                                      "--timeout",
                                      std::to_string(attack.seconds)};
    if (attack.sealed_only && kHasSealed) check.emplace_back("--sealed");
    const auto before = files_now();
    const CommandResult result = rankbox(check);
    INFO(attack.name, " tries ", attack.tries, ": ", result.output);
    CHECK(has_no_children());
    CHECK(changes(before) == "");
    if (attack.sealed_only && !kHasSealed) continue;
    CHECK(result.exit_code == 1);
    const Verdict verdict = verdict_from_json(result.output);
    CHECK(verdict.status == Status::kFail);
    REQUIRE(verdict.failure);
    // An attack that does not compile would prove nothing.
    CHECK((verdict.failure->kind == FailureKind::kCompile) ==
          (attack.kind == FailureKind::kCompile));
    // A place is in a file that was compiled, whatever the program calls it.
    CHECK(fs::exists(fs::path(project()) / verdict.failure->file));
    CHECK(verdict.failure->message.find("The grader says") == std::string::npos);
    if (attack.kind == FailureKind::kMemory) CHECK(verdict.failure->kind == FailureKind::kMemory);
  }
}

TEST_CASE("a table of attacks that is not valid is refused, with its file and attack") {
  const fs::path folder = fs::path(project()) / "tables";
  fs::create_directory(folder);
  std::ofstream(folder / "1.toml") << "[first]\ntries = 'nothing'\n";
  CHECK(attacks_in(folder).size() == 1);
  for (const auto& [table, problem] : std::map<std::string, std::string>{
           {"[wrong]\ntries = 'it'\nexercises = 'race'", "exercises"},
           {"[wrong]\ntries = 'it'\nkind = 'race'", "race"},
           {"[wrong]\ntries = 'it'\nwhole = ''\nbody = ''", "body"},
           {"[wrong]\ntries = 1", "tries"},
           {"[first]\ntries = 'the same'", "first"}}) {
    std::ofstream(folder / "2.toml") << table;
    try {
      attacks_in(folder);
      FAIL_CHECK(table);
    } catch (const Error& error) {
      CHECK(testing::lacks(error.what(), {"2.toml", table.substr(1, 5), problem}) == "");
    }
  }
}

TEST_CASE("a header that is not public is refused in one line, and those beside the file are not") {
  if (const std::string problem = cli::container_problem(); !problem.empty())
    return testing::pass_over_without_containers(problem);
  const fs::path folder = fs::path(project()) / "helpers";
  fs::create_directory(folder);
  std::ofstream(folder / "helper.h") << "inline int helper() { return 0; }\n";
  const auto verdict_with = [&](const std::string& include) {
    const fs::path file = folder / "program.cc";
    std::ofstream(file) << include << "\n"
                        << read_file("solutions/02_broadcast/broadcast_naive.cc");
    return checked({"broadcast_naive", "--file", file.string()});
  };
  CHECK(verdict_with("#include \"helper.h\"").passed());
  CHECK(verdict_with("#include <vector>\n#include \"parallel/shard.h\"").passed());
  for (const std::string header :
       {"judge/judge.h", "sim/recorder.h", "solutions/table.h", "/etc/passwd", "/dev/stdin"}) {
    const Verdict verdict = verdict_with(fmt::format("#include \"{}\"", header));
    REQUIRE(verdict.failure);
    CHECK(verdict.failure->kind == FailureKind::kCompile);
    CHECK(verdict.failure->line == 1);
    CHECK(testing::lacks(verdict.failure->message, {header, "cannot be included", "comm/comm.h"}) ==
          "");
  }
}

}  // namespace rankbox
