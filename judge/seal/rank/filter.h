// The system calls that a rank process may make: memory, its socket, time, threads of its own.
//
// All others fail with EPERM, so that a function which prints to a file merely has no file. What
// remains gives a process no way to reach another one: no files but for reading, no sockets,
// no signals, no shared memory, no new processes.
#pragma once

namespace rankbox::seal {

/// Installs the filter in this process, for good. Throws Error if the kernel has none.
void forbid_system_calls();

}  // namespace rankbox::seal
