// Finds the threads of another process that compute, from Linux's /proc.
#pragma once

#include <sys/types.h>

namespace rankbox::cli {

/// Sends `signal` to the running thread of `process` with the most processor time, and returns
/// true. If all are asleep, sends it to each of them, and returns false.
bool poke_threads(pid_t process, int signal);

}  // namespace rankbox::cli
