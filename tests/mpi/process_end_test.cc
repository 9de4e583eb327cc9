// Processes that die: all others end soon, and no file is half written.
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/support/exec.h"
#include "tests/mpi/failing_run.h"
#include "tests/support/thrown.h"

namespace rankbox::testing {
namespace {

namespace fs = std::filesystem;

TEST_CASE("a rank that dies ends mpirun soon, with an error, and no process is left") {
  for (const char* how : {"kill", "abort", "segv", "_exit", "exit"}) {
    for (const int processes : {2, 4}) {
      const std::string scenario = how;
      CAPTURE(scenario);
      CAPTURE(processes);
      const Ending ending = run(mpirun(processes, {scenario}));
      INFO(ending.output);
      CHECK(ending.exit_code != 0);
      CHECK(all_are_gone());
    }
  }
}

TEST_CASE("mpirun is ended: no process is left") {
  for (int signal : {SIGINT, SIGTERM, SIGKILL}) {
    CAPTURE(signal);
    const std::vector<std::string> command = mpirun(4, {"compute"});
    const std::vector<char*> words = cli::pointers_to(command);
    const pid_t pid = fork();
    if (pid == 0) {
      if (freopen("/dev/null", "w", stdout) == nullptr ||
          freopen("/dev/null", "w", stderr) == nullptr)
        _exit(126);
      execvp(words[0], words.data());
      _exit(127);
    }
    for (int i = 0; i < 6000 && survivors().size() < 4; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    CHECK(survivors().size() == 4);
    kill(pid, signal);
    int status = 0;
    waitpid(pid, &status, 0);
    CHECK(all_are_gone());
  }
}

TEST_CASE("a result file is there whole or not at all") {
  const std::string file = fs::path(folder()) / "numbers.txt";
  for (int round = 0; round < 3; ++round) {
    fs::remove(file);
    const Ending ending = run(mpirun(3, {"write", file}));
    INFO(ending.output);
    CHECK(ending.exit_code != 0);
    CHECK(all_are_gone());
    REQUIRE(fs::exists(file));  // the program waited for it
    std::ifstream in(file);
    int lines = 0;
    bool right = true;
    for (int number = -1; in >> number; ++lines) right = right && number == lines;
    CHECK(right);
    CHECK(lines == 1'000'000);
  }
  fs::remove(file);
  fs::remove(file + ".part");
}

TEST_CASE("more ranks than processes: one clear line, with and without mpirun") {
  const Ending alone = run({program(), "many"});
  INFO(alone.output);
  CHECK(alone.exit_code == 1);
  CHECK(alone.output ==
        "failing_program: a world of 2 ranks needs as many processes, and 1 was started: run it "
        "with mpirun "
        "-n 2\n");
  const Ending launched = run(mpirun(2, {"many"}));
  CHECK(launched.exit_code == 1);
  CHECK(contains(launched.output, "and 2 were started: run it with mpirun -n 3\n"));
  CHECK(all_are_gone());
}

}  // namespace
}  // namespace rankbox::testing
