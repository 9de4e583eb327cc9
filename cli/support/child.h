// Runs an untrusted program, with limits on time, memory and output.
//
// The program gets a separate process group, an empty standard input, and limits; on request also a
// container (cli/support/container.h), which no process outlives. Its standard output and error are
// returned as one text, in the order written. Output to the file descriptor kReportFd is returned
// separately, so that prints cannot be mistaken for results.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace rankbox::cli {

struct Container;

/// The file descriptor on which a child reports to its parent.
inline constexpr int kReportFd = 3;

struct ChildOptions {
  std::vector<std::string> command;      // the program, searched for in PATH, and its arguments
  std::string directory;                 // working directory; empty: the current one
  std::string temporary;                 // the program's $TMPDIR; empty: inherited
  const Container* container = nullptr;  // where it runs; null: beside this process
  /// Limit on wall-clock time. A program that is computing continues until it has had this much
  /// processor time, for at most kMostPatience times the limit: other programs may use the cores.
  double seconds = 10;
  std::int64_t memory_bytes = 0;      // of private memory; 0: no limit
  std::int64_t file_bytes = 1 << 24;  // largest file it may write
  /// Of the program and all processes that it starts, together; looked at every 50 ms. 0: no limit.
  std::int64_t tree_bytes = 0;  // of private memory in use
  int tree_threads = 0;

  /// When the time is up: first sends SIGUSR1 to the thread that computes, of the program or of
  /// processes that it has started, or to all of the program if none does, so that it can report
  /// its position.
  bool ask_where = false;

  /// Called with the program's output as it arrives, all of it. May be empty.
  std::function<void(std::string_view)> on_output = {};
  /// Called every 50 ms; false means that the time is up. May be empty.
  std::function<bool()> keep_running = {};
  /// Seconds between SIGTERM and SIGKILL, in which a program can end its children; 0: no SIGTERM.
  double grace_seconds = 0;
};

/// How many times its limit a program may run where other programs use the cores.
inline constexpr double kMostPatience = 4;

struct ChildResult {
  int status = 0;  // in waitpid's encoding; of the program itself, also in a container
  bool timed_out = false;
  double seconds = 0;             // how long it ran until the time was up; 0: it was not
  bool too_large = false;         // it was ended for tree_bytes
  bool too_many = false;          // it was ended for tree_threads
  bool was_computing = false;     // when the time was up, at least one thread was not asleep
  std::string output;             // the first 64 KiB
  std::int64_t output_bytes = 0;  // of all output
  std::string report;
};

/// SIGINT, SIGTERM, SIGHUP or SIGPIPE arrived during a child's run or just before, or the guard's
/// `cancelled` returned true. The child has been killed.
class Interrupted : public std::exception {
 public:
  explicit Interrupted(int signal) : signal_(signal) {}
  int signal() const { return signal_; }  // 0: no signal arrived
  const char* what() const noexcept override { return "interrupted"; }

 private:
  int signal_;
};

/// While a guard lives, those signals do not end this process. Instead, run_child throws
/// Interrupted, so that temporary files are removed. Not nested; for the main thread.
class InterruptGuard {
 public:
  /// @param cancelled called every 50 ms while a child runs; true ends it. May be empty.
  explicit InterruptGuard(std::function<bool()> cancelled = {});
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  ~InterruptGuard();

  /// Throws Interrupted if one of the signals arrived while a guard lives: for loops that run no
  /// child. Thread safety: any thread may call it.
  static void check();
};

/// Blocks until the program has ended, or was killed with its process group, or with all processes
/// of its container. Throws std::system_error if it cannot be started, Interrupted as above.
ChildResult run_child(const ChildOptions& options);

/// Returns the last line of a program's output that is not empty: usually its error.
std::string last_line(const std::string& output);

}  // namespace rankbox::cli
