// Which thread of another process computes, from what Linux tells in /proc.
#pragma once

#include <sys/types.h>

namespace rankbox::cli {

/// Sends `signal` to the thread of `process` that is running and has used most processor time.
/// False if none is running: all are asleep, or the process is gone.
bool poke_busiest_thread(pid_t process, int signal);

}  // namespace rankbox::cli
