// The critical path: the gapless chain of events up to the end of the run.
//
// A run gets shorter only if one of these events does. The path is found from its end, backwards,
// by what determined when an event could begin:
//   - compute, reduce: the rank's own event before it;
//   - a message or native collective: the side that arrived last, and so the event that delayed it;
//     or an earlier transfer that still held a port of either side;
//   - a wait: the transfer that it waited for.
// A replay only ever copies times, so "what ended when this began" is a comparison for equality.
// Where several ended together, the path follows the data: to the sender of a message, and there to
// the receive that ended. Of a collective it takes the rank's own event, then the lowest rank's.
#pragma once

#include <vector>

#include "comm/trace.h"
#include "sim/clock/clock.h"
#include "viewer/messages.h"

namespace rankbox {

/// Returns the events from the start of the run to its end, each beginning when the previous one
/// ended. A message is one event there: the side on which the path continues. Waits, and events
/// that take no time, are not part of it. Cost: O(E log E).
///
/// REQUIRES: `replay` is a replay of `trace`.
std::vector<EventId> critical_path(const Trace& trace, const Replay& replay);

}  // namespace rankbox
