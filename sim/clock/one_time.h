// One clock: the cluster's, or that of one cost coefficient.
#pragma once

#include <algorithm>

#include "comm/run_options.h"
#include "sim/clock/native_cost.h"

namespace rankbox {

/// The cluster's.
struct Seconds {
  using Time = double;
  const Cluster& cluster;

  static double later(double a, double b) { return std::max(a, b); }
  static double seconds(double time) { return time; }
  /// @param joins whether it starts with an earlier one of its group
  double message(bool same_node, double bytes, bool joins = false) const {
    const Link& link = cluster.link(same_node);
    return link.alpha - (joins ? cluster.call : 0) + bytes * link.beta;
  }
  double reduction(double bytes) const { return bytes * cluster.gamma; }
  double compute(double seconds) const { return seconds; }
  double native(const cost::NativeCall& call, const Cost& /*cost*/) const {
    return cost::native_seconds(call, cluster);
  }
};

/// A clock that counts the steps, the bytes or the reduced bytes: the one that is 1 in `counted`.
struct Coefficient {
  using Time = double;
  Cost counted;

  static double later(double a, double b) { return std::max(a, b); }
  static double seconds(double time) { return time; }
  double message(bool /*same_node*/, double bytes, bool /*joins*/ = false) const {
    return counted.steps + bytes * counted.bytes;
  }
  double reduction(double bytes) const { return bytes * counted.reduced; }
  double compute(double /*seconds*/) const { return 0; }
  double native(const cost::NativeCall& /*call*/, const Cost& cost) const {
    return cost.steps * counted.steps + cost.bytes * counted.bytes + cost.reduced * counted.reduced;
  }
};

}  // namespace rankbox
