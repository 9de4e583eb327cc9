// Threads that start their work simultaneously.
#pragma once

#include <cstdint>
#include <functional>

namespace rankbox {

/// Starts `threads` threads, spreads them over the cores, calls `work(thread)` on all of them at
/// the same moment, and joins them.
///
/// Starting a thread takes tens of microseconds, and two that wake from sleep often share a core
/// for a while, although another is idle. In that time each does thousands of updates undisturbed.
/// Started together on separate cores, they do collide.
///
/// Returns the seconds from the common start to the end of the last. `work` must not throw. Throws
/// InvalidArgument if the machine cannot start that many; then no work was done.
double run_threads(int threads, const std::function<void(int thread)>& work);

/// Spins for this many nanoseconds. To sleep takes 50 µs at least, and gives up the core.
void spin(std::int64_t nanoseconds);

}  // namespace rankbox
