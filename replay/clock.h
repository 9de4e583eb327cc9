// Virtual time, computed from a trace.
//
// Single port, full duplex: a rank sends one message at a time and receives one at a time. A
// message of n bytes from s to d starts once both ranks have reached it and both ports are free,
// and ends α + nβ later for both. A sendrecv starts its two halves together. A reduction of n bytes
// takes nγ; compute(t) takes t. An asynchronous operation starts once it is issued and a port is
// free, and costs its rank nothing until the wait. A buffered send ends for its sender when it has
// left. A native collective starts when its last rank arrives; native_cost.h has its cost.
//
// A rank's messages leave in program order: when the port becomes free, the first message that both
// sides have reached leaves, even if its receiver is busy. When several ranks' messages compete for
// a receiver, the one that could start first wins. Ties go to the one that is first in its sender's
// program, then in its receiver's, then to the lower source, then to the lower destination. Nothing
// depends on the thread schedule: the same trace has the same clocks on any machine.
//
// Cost: O(E log E) for E events.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "comm/run_options.h"
#include "comm/trace.h"

namespace rankbox {

/// The begin and end of an event in virtual seconds; for an asynchronous operation, those of its
/// transfer. end < begin marks an event that never completed (a deadlock, an error).
struct Span {
  double begin = 0;
  double end = -1;
};

struct Replay {
  std::vector<std::vector<Span>> spans;  // [rank][event], as in the trace
  std::vector<double> clocks;            // [rank] virtual time at the end of the rank's last event
};

/// The prices of latency, bytes, reductions and compute.
struct Prices {
  Link within_node;
  Link between_nodes;
  double gamma = 0;
  double compute = 1;             // factor on compute(seconds)
  std::vector<Link> native = {};  // as Cluster::native

  const Link& link(bool same_node) const { return same_node ? within_node : between_nodes; }
  double price(bool same_node, const Cost& cost) const {
    return cost.steps * link(same_node).alpha + cost.bytes * link(same_node).beta +
           cost.reduced * gamma;
  }
  /// @param cost the cost of the best known algorithm
  /// @param wire see replay/native_cost.h
  double price_of_native(bool same_node, const Cost& cost, const Cost& wire) const {
    if (native.empty()) return price(same_node, cost);
    double least = std::numeric_limits<double>::infinity();
    for (const Link& mode : native) {
      least = std::min(least, wire.steps * mode.alpha + wire.bytes * mode.beta);
    }
    return least;
  }
};

Prices prices_of(const Cluster& cluster);

/// @param chooser the cluster for which native collectives select their algorithm
Replay replay_trace(const Trace& trace, const Prices& prices, const Cluster& chooser);

/// Replays on a cluster.
Replay replay_trace(const Trace& trace, const Cluster& cluster);

/// Returns every rank's clock on the cluster and its exact cost coefficients: four replays.
std::vector<Clock> measure_clocks(const Trace& trace, const Cluster& cluster);

}  // namespace rankbox
