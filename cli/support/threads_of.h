// The threads and children of another process, from Linux's /proc.
#pragma once

#include <cstdint>
#include <vector>

#include <sys/types.h>

namespace rankbox::cli {

/// Looks at the process, and at those that it has started, directly or not, for the first with a
/// running thread. Sends `signal` to its running thread with the most processor time, and returns
/// true. If all are asleep, sends it to each thread of the process, and returns false.
bool poke_threads_below(pid_t process, int signal);

/// The process, and all that it has started, directly or not.
struct ProcessTree {
  std::int64_t private_bytes = 0;  // of memory in use, without what files and processes share
  int threads = 0;
};

ProcessTree tree_of(pid_t process);

/// Processor time of a process and all that it has started.
struct CpuUse {
  double seconds = 0;       // of processor time, also of processes that have ended
  bool is_running = false;  // a thread is not asleep: it has a core, or waits for one
};

CpuUse cpu_use_of(pid_t process);

/// Returns the children of a process with one thread, oldest first.
std::vector<pid_t> children_of(pid_t process);

}  // namespace rankbox::cli
