// The cheapest monotonic time stamp, for tracing.
//
// It takes some 10 ns where std::chrono takes 25.
#pragma once

#include <chrono>
#include <cstdint>

namespace rankbox::sim {

/// Returns ticks since an arbitrary moment. The rate is constant per run; TickClock measures it.
inline std::int64_t ticks_now() {
#if defined(__x86_64__)
  return static_cast<std::int64_t>(__builtin_ia32_rdtsc());
#else
  return std::chrono::steady_clock::now().time_since_epoch().count();
#endif
}

/// Converts ticks to nanoseconds since the clock was created, by comparing both clocks at the start
/// and at the end.
class TickClock {
 public:
  TickClock() : start_ticks_(ticks_now()), start_time_(std::chrono::steady_clock::now()) {}

  /// Call once, after the last tick to be converted.
  void stop() {
    elapsed_ns_ = std::chrono::nanoseconds(std::chrono::steady_clock::now() - start_time_).count();
    const std::int64_t ticks = ticks_now() - start_ticks_;
    ns_per_tick_ = ticks > 0 ? static_cast<double>(elapsed_ns_) / static_cast<double>(ticks) : 1;
  }
  std::int64_t to_ns(std::int64_t ticks) const {
    return static_cast<std::int64_t>(static_cast<double>(ticks - start_ticks_) * ns_per_tick_);
  }
  double elapsed_seconds() const { return static_cast<double>(elapsed_ns_) * 1e-9; }

 private:
  std::int64_t start_ticks_;
  std::chrono::steady_clock::time_point start_time_;
  std::int64_t elapsed_ns_ = 0;
  double ns_per_tick_ = 1;
};

}  // namespace rankbox::sim
