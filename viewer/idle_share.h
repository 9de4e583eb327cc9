// The share of a run in which each rank was idle.
#pragma once

#include <vector>

#include "comm/trace.h"
#include "sim/clock/clock.h"

namespace rankbox {

/// Returns, per rank, the share (0 to 1) of the run's virtual time in which the rank neither sent,
/// received, reduced nor computed. The run ends when its last rank does. Simultaneous activities
/// count once. Cost: O(E log E).
///
/// REQUIRES: `replay` is a replay of `trace`.
std::vector<double> idle_shares(const Trace& trace, const Replay& replay);

}  // namespace rankbox
