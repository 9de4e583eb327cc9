// Process failures: all processes end soon, with one report, and no file is half written.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
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

/// The program, under a unique name.
class Program {
 public:
  Program() {
    fs::copy_file(environment("RANKBOX_FAILING_PROGRAM", "tests/mpi/failing_program"), path,
                  fs::copy_options::overwrite_existing);
  }
  ~Program() {
    std::error_code ignored;
    fs::remove(path, ignored);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  const std::string path = folder() / ("failing_" + std::to_string(getpid()));
};

const std::string& program() {
  static const Program made;
  return made.path;
}

// Covers ranks that do not report and mpirun's own time, besides the scenarios' deadlines. Tests
// may share the machine.
constexpr double kSoon = 40;

/// Returns the live processes of that program.
std::vector<pid_t> survivors() {
  std::vector<pid_t> found;
  for (const fs::directory_entry& process : fs::directory_iterator("/proc")) {
    std::ifstream file(process.path() / "cmdline");
    std::string command;
    std::getline(file, command, '\0');
    if (command == program()) found.push_back(std::atoi(process.path().filename().c_str()));
  }
  return found;  // a zombie's command is empty
}

/// Returns whether all have ended within this many seconds; kills those that have not.
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
  setenv("TMPDIR", "/tmp", 1);  // the paths of its sockets must be short
  std::vector<std::string> command = {"mpirun", "-n", std::to_string(processes), program()};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

struct Ending {
  int exit_code = 0;  // 128 + signal if a signal ended it
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

/// The contents of a scenario's report.
struct Report {
  std::string name;  // the error's class
  int rank = -1;
  std::string op;
  int peer = -1;
  std::string text;        // the first cause, in one line
  int count = 0;           // number of reports
  std::vector<int> lines;  // of the calls that the report must name
};

Report report_in(const std::string& output) {
  Report report;
  std::istringstream in(output);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string first;
    words >> first;
    if (first == "at") {
      words >> report.lines.emplace_back();
    } else if (first == "failure") {
      ++report.count;
      words >> report.name;
    } else if (line.starts_with("rank ") && contains(line, ", op ")) {
      report.rank = std::stoi(line.substr(5));
      const std::size_t op = line.find(", op ") + 5;
      const std::size_t peer = line.find(", peer ");
      report.op = line.substr(op, peer - op);
      report.peer = std::stoi(line.substr(peer + 7));
    } else if (first == "rankbox:") {
      report.text = line;
    }
  }
  return report;
}

TEST_CASE("nothing happens: exit code 0, and each rank's place") {
  const Ending ending = run(mpirun(3, {"where"}));
  CHECK(ending.exit_code == 0);
  CHECK(ending.output ==
        "rank 0: node 0, local rank 0\nrank 1: node 0, local rank 1\nrank 2: node 0, local rank "
        "2\n");
  CHECK(all_are_gone(2));
}

TEST_CASE("a rank that catches InvalidArgument goes on") {
  const Ending ending = run(mpirun(2, {"refused"}));
  CHECK(ending.exit_code == 0);
  CHECK(ending.output == "went on\nwent on\n");
}

TEST_CASE("a rank that dies ends mpirun soon, with an error, and no process is left") {
  for (const char* how : {"kill", "abort", "segv", "_exit", "exit"}) {
    for (const int processes : {2, 4}) {
      const std::string scenario = how;
      CAPTURE(scenario);
      CAPTURE(processes);
      const Ending ending = run(mpirun(processes, {scenario}));
      INFO(ending.output);
      CHECK(ending.exit_code != 0);
      CHECK(ending.seconds < kSoon);
      CHECK(all_are_gone(2));
    }
  }
}

TEST_CASE("a failed run ends with one report of its first cause, and no process is left") {
  struct Row {
    const char* scenario;
    const char* name;
    int rank;
    const char* op;
    int peer;
    int exit_code = 1;
  };
  constexpr int kAny = -2;  // the ranks are alike
  const Row rows[] = {
      {"throw", "RankFailed", 1, "", -1},
      {"mistake", "InvalidArgument", 1, "", -1, 2},
      {"planned_crash", "Error", 1, "wait", -1},
      {"busy", "RankFailed", 0, "", -1},
      {"shorter_message", "MessageMismatch", 1, "recv", 0},
      {"longer_message", "MessageMismatch", 1, "recv", 0},
      {"empty_message", "MessageMismatch", 1, "recv", 0},
      {"other_dtype", "MessageMismatch", 1, "recv", 0},
      {"shorter_alike", "MessageMismatch", 1, "recv", 0},
      {"longer_alike", "MessageMismatch", 1, "recv", 0},
      {"shorter_buffered_message", "MessageMismatch", 1, "recv", 0},
      {"collective_kind", "CollectiveMismatch", 0, "all_reduce", -1},
      {"collective_root", "CollectiveMismatch", 0, "broadcast", -1},
      {"collective_op", "CollectiveMismatch", 0, "all_reduce", -1},
      {"collective_size", "CollectiveMismatch", 0, "all_reduce", -1},
      {"collective_long_ago", "CollectiveMismatch", 0, "", -1},
      {"split_or_barrier", "CollectiveMismatch", 0, "split", -1},
      {"blocking_kind", "TimedOut", 0, "all_reduce", -1},
      {"blocking_op", "CollectiveMismatch", 0, "all_reduce", -1},
      {"blocking_missing", "TimedOut", 0, "barrier", -1},
      {"missing", "TimedOut", 0, "barrier", 1},
      {"deadlock", "TimedOut", kAny, "recv", kAny},
      {"returned", "TimedOut", 0, "recv", 1},
      {"itself", "TimedOut", 1, "recv", 1},
      {"wait", "TimedOut", 0, "wait", 1},
      {"dropped_request", "UnreceivedMessage", 1, "isend", 0},
      {"kept_request", "UnreceivedMessage", 1, "irecv", 0},
      {"unreceived", "UnreceivedMessage", 1, "send", 0},
  };
  for (const Row& row : rows) {
    for (const int processes : {2, 3}) {
      const std::string scenario = row.scenario;
      CAPTURE(scenario);
      CAPTURE(processes);
      const Ending ending = run(mpirun(processes, {scenario}));
      INFO(ending.output);
      const Report report = report_in(ending.output);
      CHECK(report.count == 1);
      CHECK(report.name == row.name);
      CHECK(report.op == row.op);
      if (row.rank != kAny) CHECK(report.rank == row.rank);
      if (row.peer != kAny) CHECK(report.peer == row.peer);
      // A blocking library call hides the other ranks' calls.
      const std::size_t known = report.name == "TimedOut" ? 1 : report.lines.size();
      std::size_t named = 0;
      for (const int line : report.lines) {
        if (contains(report.text, "failing_program.cc:" + std::to_string(line))) ++named;
      }
      CHECK(named >= std::min(known, report.lines.size()));
      CHECK(ending.exit_code == row.exit_code);
      CHECK(ending.seconds < kSoon);
      CHECK(all_are_gone(2));
    }
  }
}

TEST_CASE("random broken programs end as the reference model says") {
  for (int seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    const Ending ending = run(mpirun(4, {"random", std::to_string(seed)}));
    INFO(ending.output);
    const Report report = report_in(ending.output);
    const std::string name = report.count == 0 ? "none" : report.name;
    CHECK(contains(ending.output, "may end as " + name + "\n"));
    CHECK((ending.exit_code == 0) == (name == "none"));
    CHECK(report.count <= 1);
    CHECK(ending.seconds < kSoon);
    CHECK(all_are_gone(2));
  }
}

TEST_CASE("a report says what each rank did last, which has not reported, and what to run") {
  const Ending ending = run(mpirun(3, {"busy"}));
  INFO(ending.output);
  for (const char* part : {"rank 0  ", "rank 1  has not reported", "rank 2  has not reported",
                           "./rankbox run FILE --ranks 3"})
    CHECK(contains(ending.output, part));
}

TEST_CASE("mpirun is ended: no process is left") {
  for (int signal : {SIGINT, SIGTERM, SIGKILL}) {
    CAPTURE(signal);
    std::vector<std::string> command = mpirun(4, {"compute"});
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
    REQUIRE(fs::exists(file));  // a second was enough for some files
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
  CHECK(all_are_gone(2));
}

}  // namespace
}  // namespace rankbox::testing
