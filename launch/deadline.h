// A point in time that a wait must not go beyond. Monotonic: setting the clock moves nothing.
#pragma once

#include <algorithm>
#include <chrono>

namespace rankbox::launcher {

class Deadline {
 public:
  using Clock = std::chrono::steady_clock;

  /// So many seconds from now, a year at most.
  static Deadline after(double seconds) {
    constexpr double kYear = 366 * 24 * 3600.0;
    return Deadline(Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                       std::chrono::duration<double>(std::min(seconds, kYear))));
  }

  bool passed() const { return Clock::now() >= at_; }

  /// For poll(): milliseconds from now, rounded up so that nobody spins; 0 when passed.
  int milliseconds_left(int most = 1 << 30) const {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(at_ - Clock::now()).count();
    return static_cast<int>(std::clamp<std::chrono::milliseconds::rep>(left, 0, most));
  }

  bool operator<(const Deadline& other) const { return at_ < other.at_; }

 private:
  explicit Deadline(Clock::time_point at) : at_(at) {}
  Clock::time_point at_;
};

}  // namespace rankbox::launcher
