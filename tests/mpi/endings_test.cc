// What only processes can show: whatever happens to one of them, all end, soon, none is left behind,
// and no file is half written.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/support/child.h"
#include "tests/support/thrown.h"

namespace rankbox::testing {
namespace {

namespace fs = std::filesystem;

std::string environment(const char* name, const std::string& otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : value;
}

fs::path folder() { return environment("TEST_TMPDIR", "/tmp"); }

/// The program, under a name that nobody else's process has.
class Victim {
 public:
  Victim() {
    fs::copy_file(environment("RANKBOX_VICTIM", "tests/mpi/victim"), path,
                  fs::copy_options::overwrite_existing);
  }
  ~Victim() {
    std::error_code ignored;
    fs::remove(path, ignored);
  }
  Victim(const Victim&) = delete;
  Victim& operator=(const Victim&) = delete;

  const std::string path = folder() / ("victim_" + std::to_string(getpid()));
};

const std::string& victim() {
  static const Victim made;
  return made.path;
}

/// Processes of that program which are alive.
std::vector<pid_t> survivors() {
  std::vector<pid_t> found;
  for (const fs::directory_entry& process : fs::directory_iterator("/proc")) {
    std::ifstream file(process.path() / "cmdline");
    std::string command;
    std::getline(file, command, '\0');
    if (command == victim()) found.push_back(std::atoi(process.path().filename().c_str()));
  }
  return found;  // a zombie's command is empty
}

/// Whether none is alive within so many seconds; kills those that are.
bool all_are_gone(double seconds) {
  for (double waited = 0; waited < seconds; waited += 0.05) {
    if (survivors().empty()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  for (const pid_t pid : survivors()) kill(pid, SIGKILL);
  return false;
}

std::vector<std::string> mpirun(int processes, const std::vector<std::string>& arguments) {
  setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
  setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
  setenv("OMPI_MCA_rmaps_base_oversubscribe", "1", 1);
  setenv("OMPI_MCA_hwloc_base_binding_policy", "none", 1);
  setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", 0);
  setenv("TMPDIR", "/tmp", 1);  // its sockets' names must be short
  std::vector<std::string> command = {"mpirun", "-n", std::to_string(processes), victim()};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

struct Ending {
  int exit_code = 0;  // 128 + signal if one ended it
  std::string output;
  double seconds = 0;
};

Ending run(const std::vector<std::string>& command) {
  cli::ChildOptions options;
  options.command = command;
  options.seconds = 50;
  options.file_bytes = std::int64_t{1} << 30;
  std::fflush(nullptr);
  const auto begin = std::chrono::steady_clock::now();
  const cli::ChildResult result = cli::run_child(options);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  CHECK_FALSE(result.timed_out);
  const int status = result.status;
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), result.output, seconds};
}

TEST_CASE("nothing happens: exit code 0, and who is where") {
  const Ending ending = run(mpirun(3, {"well"}));
  CHECK(ending.exit_code == 0);
  CHECK(ending.output ==
        "rank 0: node 0, local rank 0\nrank 1: node 0, local rank 1\nrank 2: node 0, local rank "
        "2\n");
  CHECK(all_are_gone(2));
}

TEST_CASE("whatever happens to a rank, mpirun ends soon, with an error, and no process is left") {
  struct Row {
    const char* how;
    double seconds;  // at most
    std::string says;
  };
  const Row rows[] = {
      {"kill", 10, "signal 9"},
      {"abort", 10, "signal 6"},
      {"segv", 10, "signal 11"},
      {"_exit", 10, ""},
      {"exit", 10, "process 1 exits in the middle of a run; ending all processes"},
      {"throw", 10, "victim: rank 1 failed: something went wrong"},
      {"stuck", 10, " s in recv for rank 0"},
      {"unchecked", 15, "s in barrier at "},
      {"busy", 20, "the other ranks did not stop within 5 s; ending all processes"},
  };
  for (const Row& row : rows) {
    for (int processes : {2, 4}) {
      const std::string how = row.how;
      CAPTURE(how);
      CAPTURE(processes);
      const Ending ending = run(mpirun(processes, {how}));
      INFO(ending.output);
      CHECK(ending.exit_code != 0);
      CHECK(ending.seconds < row.seconds);
      CHECK(contains(ending.output, row.says));
      CHECK(all_are_gone(2));
    }
  }
}

TEST_CASE("mpirun is ended: no process is left") {
  for (int signal : {SIGINT, SIGTERM, SIGKILL}) {
    CAPTURE(signal);
    std::vector<std::string> command = mpirun(4, {"busy"});
    const pid_t pid = fork();
    if (pid == 0) {
      std::vector<char*> words;
      for (std::string& word : command) words.push_back(word.data());
      words.push_back(nullptr);
      if (freopen("/dev/null", "w", stdout) == nullptr ||
          freopen("/dev/null", "w", stderr) == nullptr)
        _exit(126);
      execvp(words[0], words.data());
      _exit(127);
    }
    for (int i = 0; i < 200 && survivors().size() < 4; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    CHECK(survivors().size() == 4);
    kill(pid, signal);
    int status = 0;
    waitpid(pid, &status, 0);
    CHECK(all_are_gone(10));
  }
}

TEST_CASE("a result file is there whole or not at all") {
  const std::string file = folder() / "numbers.txt";
  for (int round = 0; round < 3; ++round) {
    fs::remove(file);
    const Ending ending = run(mpirun(3, {"write", file}));
    INFO(ending.output);
    CHECK(ending.exit_code != 0);
    CHECK(all_are_gone(2));
    REQUIRE(fs::exists(file));  // a second was enough for some
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
  const Ending alone = run({victim(), "many"});
  INFO(alone.output);
  CHECK(alone.exit_code == 1);
  CHECK(alone.output ==
        "victim: a world of 2 ranks needs as many processes, and 1 was started: run it with mpirun "
        "-n 2\n");
  const Ending launched = run(mpirun(2, {"many"}));
  CHECK(launched.exit_code == 1);
  CHECK(contains(launched.output, "and 2 were started: run it with mpirun -n 3\n"));
  CHECK(all_are_gone(2));
}

}  // namespace
}  // namespace rankbox::testing
