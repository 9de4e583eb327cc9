// The cost of a native collective in virtual time.
//
// A good library picks the best of the known algorithms for the machine and the size; so does this:
// the cheapest closed form of a tree and of a bandwidth-optimal algorithm (Thakur, Rabenseifner and
// Gropp 2005). On a cluster whose library was measured, it takes the modes of comm/cluster.h
// instead.
#pragma once

#include "comm/collective_kind.h"
#include "comm/run_options.h"

namespace rankbox::cost {

/// @param bytes the count that all ranks agree on (contribution of one rank), in bytes
/// @param link the slowest class of links that the group spans
Cost native_cost(CollectiveKind kind, int world_size, double bytes, const Link& link, double gamma);

/// What a mode of Cluster::native is multiplied by: steps are the rounds, bytes the least that a
/// rank has to send (the factors of nccl-tests' bus bandwidth).
Cost native_wire(CollectiveKind kind, int world_size, double bytes);

/// Seconds on the cluster, with all nodes that this many ranks fill.
double native_seconds(CollectiveKind kind, int world_size, double bytes, const Cluster& cluster);

}  // namespace rankbox::cost
