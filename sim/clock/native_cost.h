// The cost of a native collective in virtual time.
//
// A good library selects the best known algorithm for the machine and the size. Where nothing was
// measured, this takes the cheapest closed form: of a tree, a pipelined ring or a bandwidth-optimal
// algorithm (Thakur, Rabenseifner and Gropp 2005). A cluster of GPUs has modes instead
// (comm/cluster.h): fitted to tables for the all-reduce, from NCCL's constants for all others. The
// mode's rate was fitted to one number of ranks, so what the links can carry limits it on others.
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

  bool operator==(const NativeCall&) const = default;
};

/// @param bytes as in NativeCall
/// @param link the slowest class of links that the group spans
Cost native_cost(CollectiveKind kind, int world_size, double bytes, const Link& link, double gamma);

/// What a mode is multiplied by.
struct NativeWire {
  double steps_within = 0;   // inside a node
  double steps_between = 0;  // from node to node
  double bytes = 0;  // the least that a rank must send: the factors of nccl-tests' bus bandwidth
};

/// Returns the steps on the longest path, and the bytes. A tree has its rounds inside the nodes and
/// its rounds between them. A ring of p-1 hops passes nodes-1 borders, and an all-reduce twice as
/// many. Of messages between all pairs a rank has kMessagesInFlight under way: each batch takes a
/// step, those to ranks of other nodes one between nodes. PAT has a tree's rounds between nodes,
/// and as NCCL's model has it, a share of each rank besides.
NativeWire native_wire(const NativeCall& call, NativeSteps steps);

/// NCCL 2.28 puts so many messages of a rank into one piece of work.
inline constexpr int kMessagesInFlight = 8;

/// Returns the bytes that pass the busiest rank's link between nodes: what crosses the border of a
/// node, divided among its ranks. Each hop of a ring carries the same, so a border does, too. Trees
/// on two nodes pass half as much of an all-reduce; on more, they save nothing. The root of a
/// gather or scatter passes everything by itself.
double bytes_between_nodes(const NativeCall& call);

/// Returns the seconds that the links inside a node need, at least, for their part of an
/// all-reduce. As a ring, each rank sends 2(p-1)/p of the data. To a switch that adds, each of a
/// node's m ranks sends the data once and 1/m of the result: more on 2 ranks, less on 8. Zero for
/// all others, whose modes have the rate of the links, and for one rank a node.
double all_reduce_seconds_within(const NativeCall& call, const Cluster& cluster);

/// Returns the seconds on the cluster: of the fastest mode, whose bytes take no less time than the
/// links inside a node and bytes_between_nodes need. Without modes, those of native_cost, or of two
/// levels, which use the links between nodes of all ranks of a node at once: whatever is less.
double native_seconds(const NativeCall& call, const Cluster& cluster);

}  // namespace rankbox::cost
