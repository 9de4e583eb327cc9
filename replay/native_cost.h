// The cost of a native collective in virtual time.
//
// A good library selects the best known algorithm for the machine and the size. This takes the
// cheapest closed form of a tree and of a bandwidth-optimal algorithm (Thakur, Rabenseifner and
// Gropp 2005). For a cluster whose library was measured, it uses the modes of comm/cluster.h
// instead.
#pragma once

#include "comm/collective_kind.h"
#include "comm/run_options.h"

namespace rankbox::cost {

/// @param bytes the count that all ranks agree on (one rank's contribution), in bytes
/// @param link the slowest class of links that the group spans
Cost native_cost(CollectiveKind kind, int world_size, double bytes, const Link& link, double gamma);

/// Returns the coefficients for a mode of Cluster::native: steps are the rounds, bytes the least
/// that a rank must send (the factors of nccl-tests' bus bandwidth).
Cost native_wire(CollectiveKind kind, int world_size, double bytes);

/// Returns the seconds on the cluster, with all nodes that this many ranks fill.
double native_seconds(CollectiveKind kind, int world_size, double bytes, const Cluster& cluster);

}  // namespace rankbox::cost
