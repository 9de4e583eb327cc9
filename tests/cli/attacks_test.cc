// Programs that try to pass without being right, or to harm what is around them.
//
// Each is a file in tests/attacks, and passes only if what it tries works. None may pass, go on
// after its time, leave a process behind, or change a file.
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <thread>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "cli/support/container.h"
#include "tests/cli/command.h"
#include "tests/support/run_tests.h"
#include "tests/support/text.h"
#include "verdict/verdict_json.h"

namespace rankbox {
namespace {

namespace fs = std::filesystem;

constexpr int kSeconds = 20;       // of the judge, where an attack reaches no limit
constexpr bool kHasSealed = true;  // check --sealed exists

struct Attack {
  std::string name;
  FailureKind kind = FailureKind::kNotImplemented;  // kCompile, kMemory; else any but kCompile
  bool sealed_only = false;  // succeeds where ranks and judge are one process
  int seconds = kSeconds;
  std::string exercise = "broadcast_naive";
};

std::vector<Attack> attacks() {
  using enum FailureKind;
  return {
      {.name = "all_activations", .kind = kMemory, .sealed_only = true, .exercise = "ddp_no_sync"},
      {.name = "all_gathers_in_flight", .kind = kMemory, .sealed_only = true, .exercise = "zero3"},
      {.name = "ask_for_solution"},
      {.name = "assemble_environment", .kind = kCompile},
      {.name = "assemble_solution", .kind = kCompile},
      {.name = "assemble_without_end", .kind = kCompile},
      {.name = "become_easier_judge", .sealed_only = true},
      {.name = "become_true"},
      {.name = "buffers_of_referee", .sealed_only = true},
      {.name = "call_solution", .sealed_only = true},
      {.name = "call_solution_of_program", .sealed_only = true},
      {.name = "call_solution_by_name", .sealed_only = true, .exercise = "broadcast_ring"},
      {.name = "call_solution_through_another", .kind = kCompile, .sealed_only = true},
      {.name = "cancel_thread"},
      {.name = "clocks_of_others", .sealed_only = true},
      {.name = "clone3_process"},
      {.name = "clone_process"},
      {.name = "close_report"},
      {.name = "close_report_at_load"},
      {.name = "compiler_options"},
      {.name = "compose_solutions",
       .kind = kCompile,
       .sealed_only = true,
       .exercise = "allreduce_ring"},
      {.name = "connect"},
      {.name = "constant_memory", .kind = kCompile},
      {.name = "crash_at_load"},
      {.name = "daemon"},
      {.name = "daemon_of_shell"},
      // In threads the judge counts what `new` gives.
      {.name = "copy_by_malloc", .kind = kMemory, .sealed_only = true, .exercise = "zero1"},
      {.name = "copy_by_memory_file", .exercise = "zero1"},
      {.name = "copy_by_mmap", .kind = kMemory, .sealed_only = true, .exercise = "zero1"},
      {.name = "copy_by_shared_mmap", .exercise = "zero1"},
      {.name = "copy_for_next_step", .kind = kMemory, .sealed_only = true, .exercise = "zero1"},
      {.name = "copy_in_message", .kind = kMemory, .sealed_only = true, .exercise = "zero1"},
      {.name = "copy_in_read_only_pages",
       .kind = kMemory,
       .sealed_only = true,
       .exercise = "zero1"},
      {.name = "copy_in_referee", .kind = kMemory, .sealed_only = true, .exercise = "zero1"},
      {.name = "copy_in_static_variable",
       .kind = kMemory,
       .sealed_only = true,
       .exercise = "zero1"},
      {.name = "copy_of_other_thread", .kind = kMemory, .sealed_only = true, .exercise = "zero1"},
      {.name = "copy_on_stack", .kind = kMemory, .sealed_only = true, .exercise = "zero1"},
      {.name = "deep_template", .kind = kCompile},
      {.name = "delete_home"},
      {.name = "delete_project"},
      {.name = "delete_temporary"},
      {.name = "depend_on_accounts", .kind = kCompile},
      {.name = "descriptors_of_parent"},
      {.name = "embed_accounts", .kind = kCompile},
      {.name = "embed_solution", .kind = kCompile},
      {.name = "endless_constant", .kind = kCompile},
      {.name = "endless_recursion"},
      {.name = "escapes_in_error", .kind = kCompile},
      {.name = "exit_at_load"},
      {.name = "exit_in_exit", .seconds = 2},
      {.name = "fill_disk"},
      {.name = "flood_output", .seconds = 2},
      {.name = "forged_race", .sealed_only = true, .exercise = "race"},
      {.name = "fork_bomb"},
      {.name = "half_frame", .sealed_only = true, .seconds = 2},
      {.name = "has_accounts", .kind = kCompile},
      {.name = "host_socket"},
      {.name = "huge_frame", .sealed_only = true},
      {.name = "huge_object", .kind = kCompile},
      {.name = "ignore_signals", .seconds = 2},
      {.name = "impossible_times"},
      {.name = "include_accounts", .kind = kCompile},
      {.name = "include_environment", .kind = kCompile},
      {.name = "include_git", .kind = kCompile},
      {.name = "include_input", .kind = kCompile},
      {.name = "include_itself", .kind = kCompile},
      {.name = "include_link", .kind = kCompile},
      {.name = "include_meter", .kind = kCompile},
      {.name = "include_next_solution", .kind = kCompile},
      {.name = "include_pipe", .kind = kCompile},
      {.name = "include_recorder", .kind = kCompile},
      {.name = "include_report", .kind = kCompile},
      {.name = "include_solution", .kind = kCompile},
      {.name = "include_solution_by_path", .kind = kCompile},
      {.name = "include_solution_through_exercises", .kind = kCompile},
      {.name = "include_submission", .kind = kCompile},
      {.name = "include_terminal", .kind = kCompile},
      {.name = "include_tests", .kind = kCompile},
      {.name = "include_verdict", .kind = kCompile},
      {.name = "include_zeros", .kind = kCompile},
      {.name = "interval_timer", .sealed_only = true, .seconds = 2},
      {.name = "jump_out"},
      {.name = "kernel_keys"},
      {.name = "kernel_program"},
      {.name = "kernel_ring"},
      {.name = "kill_all"},
      {.name = "kill_group"},
      {.name = "kill_parent"},
      {.name = "kill_siblings", .sealed_only = true, .seconds = 2},
      {.name = "known_inputs", .sealed_only = true},
      {.name = "large_constant", .kind = kCompile},
      {.name = "leave_thread"},
      {.name = "leave_with_success"},
      {.name = "line_of_container", .kind = kCompile},
      {.name = "link_out"},
      {.name = "local_socket"},
      {.name = "long_message", .sealed_only = true, .seconds = 2},
      {.name = "macro_bomb", .kind = kCompile},
      {.name = "many_files"},
      {.name = "memory_bomb"},
      {.name = "memory_file_bomb"},
      {.name = "message_escapes"},
      {.name = "message_queue"},
      {.name = "more_general_solution",
       .kind = kCompile,
       .sealed_only = true,
       .exercise = "broadcast_ring"},
      {.name = "name_of_running_thread", .seconds = 2},
      {.name = "named_memory"},
      {.name = "netlink"},
      {.name = "never_unload", .seconds = 2},
      {.name = "new_namespace"},
      {.name = "other_kinds", .sealed_only = true},
      {.name = "other_solution", .kind = kCompile, .sealed_only = true},
      {.name = "own_clock"},
      {.name = "own_entry", .kind = kCompile},
      {.name = "own_exit"},
      {.name = "own_memcmp"},
      {.name = "own_new"},
      {.name = "own_preinit", .kind = kCompile},
      {.name = "own_throw"},
      {.name = "own_verdict"},
      {.name = "own_version", .kind = kCompile},
      {.name = "own_write"},
      {.name = "page_faults"},
      {.name = "parents_environment"},
      {.name = "parents_output"},
      {.name = "preload"},
      {.name = "print_escapes"},
      {.name = "print_verdict"},
      {.name = "private_pages_of_many", .kind = kMemory, .sealed_only = true},
      {.name = "process_vm_writev"},
      {.name = "raise_limits"},
      {.name = "read_accounts"},
      {.name = "read_git"},
      {.name = "read_keys"},
      {.name = "read_solution"},
      {.name = "read_submissions"},
      {.name = "real_time"},
      {.name = "remount"},
      {.name = "rename_project"},
      {.name = "report_and_leave", .sealed_only = true},
      {.name = "report_at_load", .sealed_only = true},
      {.name = "report_at_timeout", .seconds = 2},
      {.name = "report_at_unload"},
      {.name = "report_broken_json"},
      {.name = "report_by_dev_fd"},
      {.name = "report_by_duplicate", .sealed_only = true},
      {.name = "report_by_judge", .sealed_only = true},
      {.name = "report_by_proc"},
      {.name = "report_everywhere"},
      {.name = "report_first"},
      {.name = "report_from_child"},
      {.name = "report_from_shell"},
      {.name = "report_from_shell_inherited", .sealed_only = true},
      {.name = "report_garbage"},
      {.name = "report_mistake"},
      {.name = "report_on_abort", .sealed_only = true},
      {.name = "report_on_exit", .sealed_only = true},
      {.name = "report_on_quick_exit", .sealed_only = true},
      {.name = "report_on_segv", .sealed_only = true},
      {.name = "report_on_terminate", .sealed_only = true},
      {.name = "report_until_the_end", .sealed_only = true},
      {.name = "resolve_at_load", .sealed_only = true},
      {.name = "return_ahead", .sealed_only = true},
      {.name = "rewrite_contract"},
      {.name = "rewrite_library"},
      {.name = "rewrite_own_source"},
      {.name = "rewrite_precompiled"},
      {.name = "rewrite_precompiled_by_glob"},
      {.name = "rewrite_program"},
      {.name = "rewrite_progress"},
      {.name = "rewrite_registry"},
      {.name = "rewrite_running_program"},
      {.name = "rewrite_solution"},
      {.name = "rewrite_stub"},
      {.name = "search_for_solution", .sealed_only = true},
      {.name = "secret_memory"},
      {.name = "shared_memory_bomb"},
      {.name = "shared_pages", .sealed_only = true},
      {.name = "shared_table", .sealed_only = true},
      {.name = "sleep_at_load", .seconds = 2},
      {.name = "spawn"},
      {.name = "stop_all"},
      {.name = "stop_itself", .seconds = 2},
      {.name = "stop_parent"},
      {.name = "stop_reports", .sealed_only = true, .seconds = 2},
      {.name = "switch_meter_off"},
      {.name = "system_v_memory"},
      {.name = "system_v_semaphores"},
      {.name = "thread_bomb", .seconds = 2},
      {.name = "trace_parent"},
      {.name = "type_on_terminal"},
      {.name = "what_never_ends", .sealed_only = true, .seconds = 2},
      {.name = "write_const_text"},
      {.name = "write_parent_memory"},
#ifdef __x86_64__
      {.name = "other_numbers"},
      {.name = "patch_write", .sealed_only = true},
      {.name = "report_by_system_call", .sealed_only = true},
#endif
  };
}

/// Returns whether this row is one of this test's shard.
bool is_in_shard(std::size_t row) {
  const char* total = std::getenv("TEST_TOTAL_SHARDS");
  const char* mine = std::getenv("TEST_SHARD_INDEX");
  if (total == nullptr || mine == nullptr) return true;
  if (const char* file = std::getenv("TEST_SHARD_STATUS_FILE")) std::ofstream{file};
  return row % std::stoul(total) == std::stoul(mine);
}

/// Returns a folder with the attacks, as a learner's: no links, but those that an attack needs.
fs::path copy_of_attacks() {
  fs::path folder = fs::path(project()) / "handed_in";
  fs::create_directory(folder);
  for (const auto& file : fs::directory_iterator(fs::path(project()) / "tests/attacks"))
    fs::copy_file(file.path(), folder / file.path().filename());
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
  const fs::path folder = copy_of_attacks();
  // Makes the precompiled header, and shows that a right program passes here.
  REQUIRE(checked({"broadcast_naive", "--solution"}).passed());
  prctl(PR_SET_CHILD_SUBREAPER, 1);  // orphans become this process's children

  const std::vector<Attack> all = attacks();
  std::size_t row = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Attack& attack = all[i];
    if (!testing::wants_row(attack.name) || !testing::is_in_third(i) || !is_in_shard(row++))
      continue;
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
    INFO(attack.name, ": ", result.output);
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
    if (attack.kind == FailureKind::kMemory) CHECK(verdict.failure->kind == FailureKind::kMemory);
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
       {"verdict/judge.h", "sim/recorder.h", "solutions/table.h", "/etc/passwd", "/dev/stdin"}) {
    const Verdict verdict = verdict_with(fmt::format("#include \"{}\"", header));
    REQUIRE(verdict.failure);
    CHECK(verdict.failure->kind == FailureKind::kCompile);
    CHECK(verdict.failure->line == 1);
    CHECK(testing::lacks(verdict.failure->message, {header, "cannot be included", "comm/comm.h"}) ==
          "");
  }
}

}  // namespace rankbox
