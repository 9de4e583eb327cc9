// A monotonic clock in seconds.
#pragma once

#include <chrono>

namespace rankbox::cli {

/// Returns seconds since an arbitrary moment; only differences are meaningful.
inline double now() {
  using Clock = std::chrono::steady_clock;
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

}  // namespace rankbox::cli
