// The virtual time at which ranks reach their events, and what delayed them.
//
// A replay records when a transfer began, which is when both sides had arrived. A rank waits from
// its own arrival until then.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "comm/trace.h"
#include "sim/clock/clock.h"

namespace rankbox {

struct Arrival {
  double when = 0;  // virtual seconds
  // The rank's own event that ended then; none: the rank was free from the start.
  std::optional<std::size_t> after;
};

/// Returns [rank][event], and one more at the end of each rank: when its last event was done. The
/// halves of a sendrecv arrive together. Cost: O(E).
///
/// REQUIRES: `replay` is a replay of `trace`.
std::vector<std::vector<Arrival>> find_arrivals(const Trace& trace, const Replay& replay);

}  // namespace rankbox
