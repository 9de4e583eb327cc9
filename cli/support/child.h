// Runs an untrusted program, with limits on time, memory and output. Leaves no process behind.
//
// The program gets a process group of its own, an empty standard input, and limits. Its standard
// output and error come back as one text, in the order written. Whatever it wrote to the file
// descriptor kReportFd comes back separately, so that prints cannot be mistaken for results.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <vector>

namespace rankbox::cli {

/// The file descriptor on which a child reports to its parent.
inline constexpr int kReportFd = 3;

struct ChildOptions {
  std::vector<std::string> command;   // the program, looked up in PATH, and its arguments
  std::string directory;              // to run in; empty: here
  std::string temporary;              // what $TMPDIR is for the program; empty: as it is here
  double seconds = 10;                // of wall-clock time
  std::int64_t memory_bytes = 0;      // of private memory; 0: as much as there is
  std::int64_t file_bytes = 1 << 24;  // largest file it may write

  /// When the time is up: first sends SIGUSR1 to the thread that computes, or to all if none does,
  /// so that the program can report where it is.
  bool ask_where = false;

  /// Asked every 50 ms; false means that the time is up. May be empty.
  std::function<bool()> keep_running = {};
  /// Seconds between SIGTERM and SIGKILL, in which a program can end its children; 0: no SIGTERM.
  double grace_seconds = 0;
};

struct ChildResult {
  int status = 0;  // as waitpid has it
  bool timed_out = false;
  bool was_computing = false;  // when the time was up, at least one thread was not asleep
  std::string output;          // the first 64 KiB
  std::string report;
};

/// SIGINT, SIGTERM, SIGHUP or SIGPIPE came while a child ran or just before, or the guard's
/// `cancelled` returned true: the child has been killed.
class Interrupted : public std::exception {
 public:
  explicit Interrupted(int signal) : signal_(signal) {}
  int signal() const { return signal_; }  // 0: none came
  const char* what() const noexcept override { return "interrupted"; }

 private:
  int signal_;
};

/// While one lives, those signals do not end this process but make run_child throw Interrupted, so
/// that temporary files are removed. Not nested; for the main thread.
class InterruptGuard {
 public:
  /// @param cancelled asked every 50 ms while a child runs; true ends it. May be empty.
  explicit InterruptGuard(std::function<bool()> cancelled = {});
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  ~InterruptGuard();

  /// Throws Interrupted if one of the signals came while a guard lives: for loops that run no
  /// child. Any thread may call it.
  static void check();
};

/// Blocks until the program has ended, or was killed with its process group.
/// Throws std::system_error if it cannot be started, Interrupted as above.
ChildResult run_child(const ChildOptions& options);

/// The last line of a program's output that is not empty: usually its error.
std::string last_line(const std::string& output);

}  // namespace rankbox::cli
