// Promises of a ring in which blocks travel while others are computed: messages, bytes, work, and
// the time by the virtual clock.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "judge/subject.h"

namespace rankbox {

/// A ring: in each step all ranks compute, and send messages to the next rank meanwhile.
struct RingClock {
  int world_size = 1;
  int steps = 1;
  std::function<double(int rank, int step)> seconds;  // of computing
  /// The bytes of the messages that the rank sends.
  std::function<std::vector<std::int64_t>(int rank, int step)> messages;

  /// Returns the time of the last rank. Ranks start a step's messages before they compute, and wait
  /// for them at its end; or, without overlap, start them after.
  double time(bool overlaps = true) const;
  double work(int rank) const;
};

using ClockOf = RingClock (*)(const Case& example);

/// Additions are free: parts may be merged in any number of calls.
Cluster cluster_of_ring();

std::vector<RunCheck> checks_of_ring(ClockOf clock_of);

/// Returns Subject::remark: how much of the messages is hidden in this case.
std::function<std::string(const std::function<double(const Case&)>& seconds_of)> remark_on_ring(
    ClockOf clock_of, const Case& example);

}  // namespace rankbox
