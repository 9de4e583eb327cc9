// Which threads of another process compute, from what Linux tells in /proc.
#pragma once

#include <sys/types.h>

namespace rankbox::cli {

/// Sends `signal` to the thread of `process` that is running and has used the most processor time,
/// and returns true. If all are asleep, sends it to each of them, and returns false.
bool poke_threads(pid_t process, int signal);

}  // namespace rankbox::cli
