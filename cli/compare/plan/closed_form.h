// A collective's cost and time by the closed forms of collectives/cost*.h.
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

/// Sets virtual_seconds and cost if the exercise's entry in exercises/registry.toml names a form.
/// The native collective has no cost: its library chooses the algorithm.
/// @param row reads collective, algorithm, whose, world_size and elements
/// @param segments of the rings that take them
void set_closed_form(Row& row, int segments, const Cluster& cluster);

}  // namespace rankbox::cli
