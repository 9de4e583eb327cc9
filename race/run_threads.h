// Threads that begin their work together.
#pragma once

#include <functional>

namespace rankbox {

/// Starts `threads` threads, spreads them over the cores, lets them all begin `work(thread)` at the
/// same moment, and joins them.
///
/// To start a thread takes tens of microseconds, and two that wake from sleep often share a core
/// for a while, though another is idle: time enough for each to do thousands of updates
/// undisturbed. Begun together on cores of their own, they do meet.
///
/// Returns the seconds from the common start to the end of the last. `work` must not throw.
/// Errors: InvalidArgument if the machine cannot start that many; then no work was begun.
double run_threads(int threads, const std::function<void(int thread)>& work);

}  // namespace rankbox
