// What a program in a container sees, may do and leaves behind.
#include "cli/support/container.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/support/child.h"
#include "files/temporary_folder.h"
#include "tests/support/run_tests.h"
#include "tests/support/text.h"

namespace rankbox::cli {
namespace {

/// Runs a shell in this container, with processes.
ChildResult run_shell(Container container, const std::string& script, double seconds = 10) {
  container.may_start_processes = true;
  ChildOptions options;
  options.command = {"sh", "-c", script};
  options.container = &container;
  options.seconds = seconds;
  return run_child(options);
}

TEST_CASE("a program gets no descriptor that a library opened without O_CLOEXEC") {
  constexpr int kOpen = 200;
  REQUIRE(dup2(STDERR_FILENO, kOpen) == kOpen);
  ChildOptions options;
  options.command = {"sh", "-c", "test -e /proc/$$/fd/2 && test ! -e /proc/$$/fd/200"};
  const ChildResult result = run_child(options);
  close(kOpen);
  CHECK(result.status == 0);
}

TEST_CASE("a container shows what it lists, read-only, and this machine's programs") {
  if (const std::string problem = container_problem(); !problem.empty())
    return testing::pass_over_without_containers(problem);
  const TemporaryFolder folder;
  std::ofstream(folder.path("seen")) << "seen";
  std::ofstream(folder.path("unseen")) << "unseen";
  std::filesystem::create_directory(folder.path("out"));
  Container container;
  container.readable = {{folder.path("seen"), "/some/where"}};
  container.made = {{"/some/text", "made"}};
  container.writable = {folder.path("out")};
  const struct {
    std::string script;
    std::string output;
  } rows[] = {
      {"cat /some/where /some/text", "seenmade"},
      {"cat " + folder.path("unseen"), "No such file"},
      {"echo x > /some/where", "Read-only"},
      {"echo x > /some/new", "Read-only"},
      {"echo x > /usr/new", "Read-only"},
      {"ls /", "bin\ndev\netc\n"},
      {"ls /dev", "null\nurandom\n"},
      {"ls /proc /sys /home", "No such file"},
      {"echo x > /tmp/mine && cat /tmp/mine", "x\n"},
      {"for i in 1 2 3 4 5 6 7; do head -c 10000000 /dev/urandom > /tmp/$i; done", "No space"},
      {"env | grep -v -e ^PATH= -e ^TMPDIR= -e ^GLIBC -e ^CCACHE -e ^PWD= -e RANKBOX; echo end",
       "end\n"},
      {"echo \"$PPID\"", "1\n"},
  };
  for (const auto& row : rows) {
    const ChildResult result = run_shell(container, row.script);
    INFO(row.script, ": ", result.output);
    CHECK(testing::contains(result.output, row.output));
  }
  CHECK(run_shell(container, "echo kept > " + folder.path("out/file")).status == 0);
  CHECK(std::filesystem::exists(folder.path("out/file")));
}

TEST_CASE("the status is that of the program itself") {
  if (const std::string problem = container_problem(); !problem.empty())
    return testing::pass_over_without_containers(problem);
  CHECK(WEXITSTATUS(run_shell({}, "exit 7").status) == 7);
  CHECK(WTERMSIG(run_shell({}, "kill -SEGV $$").status) == SIGSEGV);
  CHECK(run_shell({}, "sleep 100", 0.2).timed_out);
}

TEST_CASE("no process outlives its container") {
  if (const std::string problem = container_problem(); !problem.empty())
    return testing::pass_over_without_containers(problem);
  // The processes hold the lock as long as they live.
  for (const bool ends : {true, false}) {  // the shell ends, or is ended
    const TemporaryFolder folder;
    Container container;
    container.writable = {folder.path("")};
    container.may_start_processes = true;
    const std::string lock = folder.path("lock");
    const std::string stay = "exec 9> " + lock + "; setsid sh -c 'flock 9; touch " +
                             folder.path("locked") +
                             "; sleep 1000' > /dev/null 2>&1 & while [ ! -e " +
                             folder.path("locked") + " ]; do sleep 0.01; done; ";
    ChildOptions shell;
    shell.command = {"sh", "-c", stay + (ends ? "true" : "sleep 1000")};
    shell.seconds = 300;
    shell.container = &container;
    if (!ends) shell.keep_running = [&] { return !std::filesystem::exists(folder.path("locked")); };
    run_child(shell);
    REQUIRE(std::filesystem::exists(folder.path("locked")));
    ChildOptions again;
    again.command = {"flock", "--nonblock", lock, "true"};
    CHECK(run_child(again).status == 0);
  }
}

TEST_CASE("without processes, a program has threads alone") {
  if (const std::string problem = container_problem(); !problem.empty())
    return testing::pass_over_without_containers(problem);
  const Container container;
  ChildOptions options;
  options.command = {"sh", "-c", "true; (exit 0)"};
  options.container = &container;
  CHECK(testing::contains(run_child(options).output, "fork"));
}

}  // namespace
}  // namespace rankbox::cli
