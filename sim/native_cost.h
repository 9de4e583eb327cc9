// What a native collective costs in virtual time.
//
// A good library picks the best of the known algorithms for the machine and the size; so does this:
// the cheapest closed form of a tree and of a bandwidth-optimal algorithm (Thakur, Rabenseifner and
// Gropp 2005).
#pragma once

#include "comm/collective_kind.h"
#include "comm/run_options.h"

namespace rankbox::sim {

/// @param bytes the count that all ranks agree on (contribution of one rank), in bytes
/// @param link the slowest class of links that the group spans
Cost native_cost(CollectiveKind kind, int world_size, double bytes, const Link& link, double gamma);

}  // namespace rankbox::sim
