// Four clocks at once: the cluster's, and one for each cost coefficient.
//
// Valid only where messages do not compete for ports: with contention, the order of messages
// depends on the clock (one_time.h).
#pragma once

#include <algorithm>

#include "comm/run_options.h"
#include "sim/clock/native_cost.h"

namespace rankbox {

struct FourTimes {
  double seconds = 0;
  double steps = 0;
  double bytes = 0;
  double reduced = 0;

  FourTimes& operator+=(const FourTimes& by) {
    seconds += by.seconds;
    steps += by.steps;
    bytes += by.bytes;
    reduced += by.reduced;
    return *this;
  }
};

inline Clock clock_of(const FourTimes& time) {
  return {time.seconds, {time.steps, time.bytes, time.reduced}};
}

struct FourPrices {
  using Time = FourTimes;
  const Cluster& cluster;

  static FourTimes later(const FourTimes& a, const FourTimes& b) {
    return {std::max(a.seconds, b.seconds), std::max(a.steps, b.steps), std::max(a.bytes, b.bytes),
            std::max(a.reduced, b.reduced)};
  }
  static double seconds(const FourTimes& time) { return time.seconds; }
  /// Started messages, which may share a call, are priced by one_time.h.
  FourTimes message(bool same_node, double bytes, bool /*joins*/ = false) const {
    const Link& link = cluster.link(same_node);
    return {link.alpha + bytes * link.beta, 1, bytes, 0};
  }
  FourTimes reduction(double bytes) const { return {bytes * cluster.gamma, 0, 0, bytes}; }
  FourTimes compute(double seconds) const { return {seconds, 0, 0, 0}; }
  FourTimes native(const cost::NativeCall& call, const Cost& cost) const {
    return {cost::native_seconds(call, cluster), cost.steps, cost.bytes, cost.reduced};
  }
};

}  // namespace rankbox
