// Threads that start their work at the same moment.
#pragma once

#include <functional>

namespace rankbox {

/// Starts `threads` threads, spreads them over the cores, calls `work(thread)` on all of them at
/// the same moment, and joins them.
///
/// Starting a thread takes tens of microseconds, and two that wake from sleep often share a core
/// for a while, although another is idle: enough time for each to do thousands of updates
/// undisturbed. Started together on separate cores, they do collide.
///
/// Returns the seconds from the common start to the end of the last. `work` must not throw.
/// Errors: InvalidArgument if the machine cannot start that many; then no work was done.
double run_threads(int threads, const std::function<void(int thread)>& work);

}  // namespace rankbox
