// Starts the processes of a world on this machine, and leaves none behind.
//
//   const LaunchResult result = launch_local({.processes = 4, .command = {"./program", "-b", "8"}});
//   if (!result.message.empty()) fmt::print(stderr, "{}\n", result.message);
//   return result.exit_code;
//
// Each process gets RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, GROUP_RANK, MASTER_ADDR,
// RANKBOX_PORT (free, and kept free) and RANKBOX_JOB, which is all that rank_variables() and
// Star need. Its output is ours, as it comes; its input is empty.
//
// When one fails, the others have half a second to notice and to say so in their own words; then
// they get SIGTERM, and SIGKILL after the grace time. Ctrl-C, SIGTERM and SIGHUP are passed on, and
// then the same holds; a second one kills at once. Every process leads a process group of its own:
// what it started goes with it. When we are killed ourselves, all of them are, too.
//
// Blocks until all have ended. Thread safety: for one thread, which has to live as long; the signals
// are those of the whole process, so call it where no other thread is waiting for them.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace rankbox::launcher {

struct LaunchOptions {
  int processes = 1;
  std::vector<std::string> command;  // the program, looked up in PATH, and its arguments
  std::vector<std::pair<std::string, std::string>> variables = {};  // more for its environment
  double settle_seconds = 0.5;  // from the first failure to SIGTERM
  double grace_seconds = 5;     // from there to SIGKILL
};

/// How it ended: the first failure. A rank that died of a signal is taken for the cause even if
/// others, who noticed and gave up, were gone before it.
struct LaunchResult {
  int exit_code = 0;    // of the first that failed; 128 + signal if it died of one, or we got one
  int rank = -1;        // which failed
  int signal = 0;       // which it died of, or which we got
  std::string message;  // one line; empty: all went well
};

/// Throws InvalidArgument for a number of processes or a command that cannot be, Error when a
/// process cannot be started; none is left then, either.
LaunchResult launch_local(const LaunchOptions& options);

}  // namespace rankbox::launcher
