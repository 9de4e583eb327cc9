// When every rank came to each of its events in virtual time, and what had kept it until then.
//
// A replay notes when a transfer began, which is when both sides were there. The time between a
// rank's arrival and that is what it waited.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "comm/trace.h"
#include "replay/clock.h"

namespace rankbox {

struct Arrival {
  double when = 0;  // virtual seconds
  // The rank's own event that ended then; none: the rank has been free from the start.
  std::optional<std::size_t> after;
};

/// [rank][event], and one more at the end of each rank: when it had done its last. The halves of a
/// sendrecv arrive together. Cost: O(E).
///
/// REQUIRES: `replay` is a replay of `trace`.
std::vector<std::vector<Arrival>> find_arrivals(const Trace& trace, const Replay& replay);

}  // namespace rankbox
