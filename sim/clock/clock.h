// Virtual time, computed from a trace.
//
// Single port, full duplex: a rank sends one message at a time and receives one at a time. A
// message of n bytes from s to d starts once both ranks have reached it and both ports are free,
// and ends α + nβ later for both. Of a rank's messages that start as one group only the first one
// pays the part of α that is the cluster's call (call_groups.h). A sendrecv starts its two halves
// together. A reduction of n bytes takes nγ; compute(t) takes t. An asynchronous operation starts
// once it is issued and a port is free, and costs its rank nothing until the wait. A buffered send
// ends for its sender when it has left. A native collective starts when its last rank arrives;
// native_cost.h has its cost.
//
// A rank's messages leave in program order: when the port becomes free, the first message that both
// sides have reached leaves, even if its receiver is busy. When several ranks' messages compete for
// a receiver, the one that could start first wins. Ties go to the one that is first in its sender's
// program, then in its receiver's, then to the lower source, then to the lower destination. A
// started collective counts as its lowest rank's. Nothing depends on the thread schedule: the same
// trace has the same clocks on any machine.
//
// Cost: O(E log E) for E events.
#pragma once

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

/// Replays on a cluster.
Replay replay_trace(const Trace& trace, const Cluster& cluster);

/// Returns every rank's clock on the cluster and its exact cost coefficients: four replays.
std::vector<Clock> measure_clocks(const Trace& trace, const Cluster& cluster);

}  // namespace rankbox
