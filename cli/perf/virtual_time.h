// What a collective would take on a cluster, by the closed forms of collectives/cost*.h.
//
// A topology takes steps*α + bytes*β + reduced*γ, with the slowest class of links that its ranks
// span; a hierarchical one takes each of its phases over the links of that phase. On a cluster with
// one class of links this is what the sandbox's clock says, to the last bit but rounding. The native
// collective takes what comm/cluster.h says of it, or the cheapest of the known algorithms.
//
// Thread safety: pure functions.
#pragma once

#include <optional>

#include "cli/perf/plan.h"

namespace rankbox::perf {

/// Seconds; none for an algorithm whose cost nobody wrote down.
/// @param row reads collective, algorithm, world_size, elements and bytes
/// @param segments of the pipelined ring
std::optional<double> virtual_seconds(const Row& row, int segments, const Cluster& cluster);

}  // namespace rankbox::perf
