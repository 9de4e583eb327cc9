// A run as trace-event JSON, which Perfetto (ui.perfetto.dev) and chrome://tracing open.
//
// Two processes: what the ranks did in virtual time, and what the threads did by the wall clock. A
// rank is a thread of each; in virtual time, transfers beside others (asynchronous ones, the send
// of a sendrecv) have their own lanes. Waiting is a slice, and every message an arrow.
//
// Format: "Trace Event Format", Google 2016. Slices of a lane nest; arrows are pairs of "s" and "f"
// with the same id, the latter bound to the slice around it.
#pragma once

#include <iosfwd>

#include "comm/trace.h"
#include "replay/clock.h"

namespace rankbox {

/// Writes one JSON object. Cost: O(E) for E events, about 200 bytes per event and clock.
///
/// REQUIRES: `replay` is a replay of `trace`.
void write_trace_events(std::ostream& out, const Trace& trace, const Replay& replay);

}  // namespace rankbox
