// What a collective costs, and what it takes on a cluster, by the closed forms of collectives/cost*.h.
//
// A topology takes steps*α + bytes*β + reduced*γ, with the slowest class of links that its ranks
// span; a hierarchical one takes each of its phases over the links of that phase. On a cluster with
// one class of links this is what the sandbox's clock says, to the last bit but rounding. The native
// collective takes what comm/cluster.h says of it, or the cheapest of the known algorithms.
//
// Thread safety: pure functions.
#pragma once

#include "cli/compare/plan/plan.h"

namespace rankbox::cli {

/// Sets virtual_seconds and cost, where a form is known: that which the exercise's entry in
/// exercises/registry.toml names. The native collective has no cost, which is its library's affair.
/// @param row reads collective, algorithm, whose, world_size and elements
/// @param segments of the pipelined ring
void set_closed_form(Row& row, int segments, const Cluster& cluster);

}  // namespace rankbox::cli
