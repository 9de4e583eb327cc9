// A collective's cost and its time on a cluster, by the closed forms of collectives/cost*.h.
//
// A topology takes steps*α + bytes*β + reduced*γ, with the slowest class of links that its ranks
// span. Each phase of a hierarchical one uses the links of that phase. On a cluster with one class
// of links, this is the time of the sandbox's clock, except for rounding. The native collective
// takes the time in comm/cluster.h, or that of the cheapest known algorithm.
//
// Thread safety: pure functions.
#pragma once

#include "cli/compare/plan/plan.h"

namespace rankbox::cli {

/// Sets virtual_seconds and cost if a form is known: the one that the exercise's entry in
/// exercises/registry.toml names. The native collective has no cost: its library chooses it.
/// @param row reads collective, algorithm, whose, world_size and elements
/// @param segments of the pipelined ring
void set_closed_form(Row& row, int segments, const Cluster& cluster);

}  // namespace rankbox::cli
