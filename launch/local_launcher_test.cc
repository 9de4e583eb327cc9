// The launcher: exit codes, signals, and that nobody is left.
#include "launch/local_launcher.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "comm/errors.h"
#include "launch/test_processes.h"

namespace rankbox::launcher {
namespace {

constexpr double kSoon = 8;

/// A folder for what the processes write.
class Folder {
 public:
  Folder() {
    const char* parent = std::getenv("TEST_TMPDIR");
    std::string name = std::string(parent == nullptr ? "/tmp" : parent) + "/launch.XXXXXX";
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }

  /// All words of all files.
  std::multiset<std::string> words() const {
    std::multiset<std::string> all;
    for (const auto& file : std::filesystem::directory_iterator(path_)) {
      std::ifstream stream(file.path());
      for (std::string word; stream >> word;) all.insert(word);
    }
    return all;
  }
  std::vector<pid_t> pids() const {
    std::vector<pid_t> all;
    for (const std::string& word : words()) all.push_back(std::stoi(word));
    return all;
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// Processes that run a line of shell, with $F for the folder.
LaunchOptions shell(int processes, const Folder& folder, const std::string& line) {
  LaunchOptions options;
  options.processes = processes;
  options.command = {"sh", "-c", line};
  options.variables = {{"F", folder.path()}};
  options.settle_seconds = 0.2;
  options.grace_seconds = 0.4;
  return options;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Who was killed takes a moment to go.
bool all_dead(const std::vector<pid_t>& pids) {
  return comes_true([&] { return std::all_of(pids.begin(), pids.end(), is_dead); }, 2);
}

// Writes the numbers of a process and of one that it started, then sleeps for long.
const std::string kSleep = "sleep 100 & echo $$ $! > $F/$RANK; wait";

TEST_CASE("each process knows who it is, and finds nothing to read") {
  Folder folder;
  // What we could read ourselves.
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  REQUIRE(write(ends[1], "ours", 4) == 4);
  close(ends[1]);
  const int before = dup(STDIN_FILENO);
  dup2(ends[0], STDIN_FILENO);
  const LaunchResult result = launch_local(
      shell(3, folder,
            "cat > $F/$RANK; echo $RANK/$WORLD_SIZE,$LOCAL_RANK/$LOCAL_WORLD_SIZE >> $F/$RANK;"
            "echo $GROUP_RANK,$MASTER_ADDR $RANKBOX_PORT $RANKBOX_JOB >> $F/$RANK"));
  dup2(before, STDIN_FILENO);
  close(before);
  close(ends[0]);
  CHECK(result.exit_code == 0);
  CHECK(result.rank == -1);
  CHECK(result.message.empty());
  const auto words = folder.words();
  CHECK(words.size() == 12);
  for (const char* who : {"0/3,0/3", "1/3,1/3", "2/3,2/3"}) CHECK(words.count(who) == 1);
  // The address, the port and the job are the same for all three.
  CHECK(words.count("0,127.0.0.1") == 3);
  CHECK(std::set<std::string>(words.begin(), words.end()).size() == 3 + 3);
}

TEST_CASE("two launches at once meet at two ports") {
  Folder folder;
  const std::string line = "echo $RANKBOX_PORT > $F/$RANK.$$; sleep 0.3";
  run_processes(2, [&](int) { return launch_local(shell(2, folder, line)).message; });
  const auto words = folder.words();
  CHECK(words.size() == 4);
  CHECK(std::set<std::string>(words.begin(), words.end()).size() == 2);
}

TEST_CASE("the exit code is that of the rank that failed, or 128 and its signal, and it is named") {
  struct Row {
    std::string line;
    int exit_code, rank, signal;
    std::string words;
  };
  const std::vector<Row> rows = {
      {"exit 0", 0, -1, 0, ""},
      {"[ $RANK != 1 ] || exit 3", 3, 1, 0, "failed with exit code 3"},
      {"[ $RANK != 0 ] || kill -9 $$", 137, 0, 9, "died of signal 9 (Killed)"},
      {"[ $RANK != 2 ] || kill -SEGV $$", 139, 2, 11, "died of signal 11 (Segmentation fault)"},
      {"[ $RANK = 1 ] && exit 3; sleep 100", 3, 1, 0, "failed with exit code 3"},
      {"[ $RANK = 1 ] && kill -9 $$; sleep 100", 137, 1, 9, "died of signal 9"},
      // Those who notice a death may be gone before the one who died.
      {"[ $RANK = 2 ] && sleep 0.1 && kill -9 $$; [ $RANK = 1 ] && exit 1; sleep 100", 137, 2, 9,
       "died of signal 9"},
      // Being ended by us is no cause.
      {"[ $RANK = 1 ] && exit 7; trap '' TERM; sleep 100", 7, 1, 0, "failed with exit code 7"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.line);
    Folder folder;
    const auto started = std::chrono::steady_clock::now();
    const LaunchResult result = launch_local(shell(3, folder, row.line));
    CHECK(std::chrono::steady_clock::now() - started < std::chrono::duration<double>(kSoon));
    CAPTURE(result.message);
    CHECK(result.exit_code == row.exit_code);
    CHECK(result.rank == row.rank);
    CHECK(result.signal == row.signal);
    CHECK(contains(result.message, row.words));
    if (row.rank >= 0) {
      CHECK(contains(result.message, "rank " + std::to_string(row.rank) + " (pid "));
    }
    CHECK(result.message.empty() == (row.rank < 0));
  }
}

TEST_CASE(
    "when one fails nobody is left: not the others, not what they started, not the stubborn") {
  for (const std::string stubborn : {"", "trap '' TERM; "}) {
    for (const std::string end : {"exit 5", "kill -9 $$"}) {
      CAPTURE(stubborn);
      CAPTURE(end);
      Folder folder;
      const LaunchResult result = launch_local(shell(
          3, folder, fmt::format("[ $RANK = 1 ] && sleep 0.3 && {}; {}{}", end, stubborn, kSleep)));
      CHECK(result.rank == 1);
      CHECK(folder.pids().size() == 4);
      CHECK(all_dead(folder.pids()));
    }
  }
}

TEST_CASE("what a rank started does not outlive it, though the rank ended well") {
  Folder folder;
  const LaunchResult result = launch_local(shell(2, folder, "sleep 100 & echo $! > $F/$RANK"));
  CHECK(result.exit_code == 0);
  CHECK(folder.pids().size() == 2);
  CHECK(all_dead(folder.pids()));
}

TEST_CASE("Ctrl-C and its like reach the processes, which may tidy up, and nobody is left") {
  struct Row {
    int signal;
    const char* name;
  };
  for (const Row& row : {Row{SIGINT, "INT"}, Row{SIGTERM, "TERM"}, Row{SIGHUP, "HUP"}}) {
    CAPTURE(row.name);
    Folder folder, tidied;
    LaunchOptions options =
        shell(2, folder,
              std::string("trap 'echo tidied > $T/$RANK; exit 9' ") + row.name + "; " + kSleep);
    options.variables.emplace_back("T", tidied.path());
    options.grace_seconds = kSoon;
    const auto outcomes = run_processes(
        1,
        [&](int) {
          const LaunchResult result = launch_local(options);
          return std::to_string(result.exit_code) + " " + result.message;
        },
        [&](const std::vector<pid_t>& pids) {
          CHECK(comes_true([&] { return folder.words().size() == 4; }));
          kill(pids.front(), row.signal);
        });
    CAPTURE(outcomes.front().text);
    CHECK(contains(outcomes.front().text, std::to_string(128 + row.signal) + " stopped by signal"));
    CHECK(tidied.words().count("tidied") == 2);
    CHECK(all_dead(folder.pids()));
  }
}

TEST_CASE("who does not listen to Ctrl-C is killed after the grace time, or by a second one") {
  for (const bool twice : {false, true}) {
    CAPTURE(twice);
    Folder folder;
    LaunchOptions options = shell(2, folder, "trap '' INT; " + kSleep);
    options.grace_seconds = twice ? 50 : 0.4;
    const auto outcomes = run_processes(
        1, [&](int) { return std::to_string(launch_local(options).exit_code); },
        [&](const std::vector<pid_t>& pids) {
          CHECK(comes_true([&] { return folder.words().size() == 4; }));
          kill(pids.front(), SIGINT);
          if (!twice) return;
          sleep_for(0.3);
          kill(pids.front(), SIGINT);
        });
    CHECK(outcomes.front().text == "130");
    CHECK(outcomes.front().seconds < kSoon);
    CHECK(all_dead(folder.pids()));
  }
}

TEST_CASE("the processes, and what they started, die with their launcher, however it dies") {
  for (const int signal : {SIGKILL, SIGQUIT}) {
    Folder folder;
    run_processes(
        1,
        [&](int) {
          launch_local(shell(3, folder, "trap '' TERM HUP INT; " + kSleep));
          return "";
        },
        [&](const std::vector<pid_t>& pids) {
          CHECK(comes_true([&] { return folder.words().size() == 6; }));
          kill(pids.front(), signal);
        });
    CHECK(folder.pids().size() == 6);
    CHECK(all_dead(folder.pids()));
  }
}

TEST_CASE("the caller's signals are as they were afterwards, and those of the processes as well") {
  sigset_t blocked, before, after;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR2);
  pthread_sigmask(SIG_SETMASK, &blocked, &before);
  Folder folder;
  LaunchOptions options = shell(1, folder, "");
  options.command = {"cp", "/proc/self/status", folder.path()};  // a shell would unblock them
  launch_local(options);
  pthread_sigmask(SIG_SETMASK, &before, &after);
  CHECK(folder.words().count("0000000000000800") == 1);  // SigBlk: the bit of SIGUSR2
  CHECK(sigismember(&after, SIGUSR2) == 1);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGCHLD})
    CHECK(sigismember(&after, signal) == 0);
}

TEST_CASE("what cannot be started is told, and nobody is left of it") {
  Folder folder;
  CHECK_THROWS_AS(launch_local(shell(0, folder, "true")), InvalidArgument);
  CHECK_THROWS_AS(launch_local(shell(100000, folder, "true")), InvalidArgument);
  LaunchOptions options = shell(2, folder, "");
  options.command = {};
  CHECK_THROWS_AS(launch_local(options), InvalidArgument);
  options.command = {"/no/such/program"};
  std::string message;
  try {
    launch_local(options);
  } catch (const Error& error) {
    message = error.what();
  }
  CHECK(message == "cannot start /no/such/program: No such file or directory");
  CHECK(waitpid(-1, nullptr, WNOHANG) < 0);  // no child of ours is left
}

}  // namespace
}  // namespace rankbox::launcher
