// The cost of a native collective in virtual time.
//
// A good library selects the best known algorithm for the machine and the size. Where nothing was
// measured, this takes the cheapest closed form: of a tree, a pipelined ring or a bandwidth-optimal
// algorithm (Thakur, Rabenseifner and Gropp 2005). A cluster of GPUs has modes instead
// (comm/cluster.h): fitted to tables for the all-reduce, from NCCL's constants for all others.
#pragma once

#include "comm/collective_kind.h"
#include "comm/run_options.h"

namespace rankbox::cost {

/// One call of a native collective.
struct NativeCall {
  CollectiveKind kind = CollectiveKind::kBarrier;
  int world_size = 1;  // of the group
  int nodes = 1;       // that the group spans
  double bytes = 0;    // the count that all ranks agree on (one rank's contribution), in bytes
};

/// @param bytes as in NativeCall
/// @param link the slowest class of links that the group spans
Cost native_cost(CollectiveKind kind, int world_size, double bytes, const Link& link, double gamma);

/// Returns the coefficients for a mode. Steps are the rounds of a tree for all_reduce, barrier and
/// split, and the hops of a ring for broadcast and reduce, as in NCCL. All others also count p-1
/// hops: NCCL's PAT and its additions in the switch are neglected. Bytes are the least that a rank
/// must send (the factors of nccl-tests' bus bandwidth).
Cost native_wire(CollectiveKind kind, int world_size, double bytes);

/// Returns the least bytes that must pass the busiest rank's link between nodes: what must cross
/// the border of a node, divided among its ranks. A root of gather or scatter passes all of it.
double bytes_between_nodes(const NativeCall& call);

/// Returns the seconds on the cluster: of the fastest mode, but no fewer than bytes_between_nodes
/// take; without modes, those of native_cost.
double native_seconds(const NativeCall& call, const Cluster& cluster);

}  // namespace rankbox::cost
