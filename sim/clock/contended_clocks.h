// The clocks of a trace whose messages compete for ports.
#pragma once

#include <vector>

#include "comm/run_options.h"
#include "comm/trace.h"
#include "sim/clock/four_times.h"
#include "sim/clock/replay_start.h"

namespace rankbox {

/// Returns every rank's clock on the cluster and its exact cost coefficients: four replays, one a
/// clock, because the order of messages may differ.
/// @param starts [rank] where the trace begins; none: at its start
std::vector<Clock> contended_clocks(const Trace& trace, const Cluster& cluster,
                                    const std::vector<ReplayStart<FourTimes>>& starts);

}  // namespace rankbox
