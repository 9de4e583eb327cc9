// The system calls that a judged program may not make, as a filter for the kernel.
#pragma once

#include <string>

namespace rankbox::cli {

/// Returns a seccomp program, as bwrap --seccomp reads it. It refuses (EPERM) to start processes,
/// to trace them or take their descriptors, to open sockets, to make namespaces, to share memory,
/// to keep data in queues of the kernel and to watch files. Threads may be started.
/// Empty for a processor that this file does not know.
std::string system_call_filter();

}  // namespace rankbox::cli
