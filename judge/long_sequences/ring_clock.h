// Promises of a ring in which blocks travel while others are computed: messages, bytes, work, and
// the time by the virtual clock.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "judge/subject.h"

namespace rankbox {

/// A ring of world_size steps; nothing travels in the last one.
struct RingClock {
  int world_size = 1;
  std::function<double(int rank, int step)> seconds;      // of computing
  std::function<std::int64_t(int rank, int step)> bytes;  // that the rank sends to the next one

  /// Returns the time of the last rank. Ranks start a step's messages before they compute, and wait
  /// for both at its end; or, without overlap, start them after.
  double time(bool overlaps = true) const;
  double work(int rank) const;
  std::int64_t bytes_sent(int rank) const;
  /// Returns the bytes of the largest messages, one in each step.
  std::int64_t bytes_of_largest() const;
};

using ClockOf = RingClock (*)(const Case& example);

/// Additions are free: parts may be merged in any number of calls.
Cluster cluster_of_ring();

std::vector<RunCheck> checks_of_ring(ClockOf clock_of);

/// Returns Subject::remark: how much of the messages is hidden in this case.
std::function<std::string(const std::function<double(const Case&)>& seconds_of)> remark_on_ring(
    ClockOf clock_of, const Case& example);

}  // namespace rankbox
