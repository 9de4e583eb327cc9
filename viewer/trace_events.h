// A run as trace-event JSON, for Perfetto (ui.perfetto.dev) and chrome://tracing.
//
// There are two processes: the ranks in virtual time, and the threads by the wall clock. A rank is
// a thread of each. In virtual time, concurrent transfers (asynchronous ones, the send of a
// sendrecv) have separate lanes. Waiting is a slice, every message an arrow, and the
// memory of each rank a counter.
//
// Format: "Trace Event Format", Google 2016. Slices of a lane nest; arrows are pairs of "s" and "f"
// with the same id, the latter bound to the slice around it.
#pragma once

#include <iosfwd>

#include "comm/trace.h"
#include "sim/clock/clock.h"

namespace rankbox {

/// Writes one JSON object. Cost: O(E) for E events, about 200 bytes per event and clock.
///
/// REQUIRES: `replay` is a replay of `trace`.
void write_trace_events(std::ostream& out, const Trace& trace, const Replay& replay);

}  // namespace rankbox
