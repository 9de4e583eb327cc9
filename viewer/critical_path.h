// What the run's virtual time was spent on: the chain of events without a gap that ends with the
// last rank's last event. Whoever wants the run to be shorter has to shorten one of them.
//
// It is found from its end, walking back. What decided when an event could begin?
//   - compute, reduce: the rank's own event before it;
//   - a message or native collective: whichever side came last, and so the event that kept that
//     side; or an earlier transfer that still held a port of one of them;
//   - a wait: the transfer that it waited for.
// A replay only ever copies times, so "what ended when this began" is a comparison for equality.
// Where several ended together, the rank's own event is taken, then the one of the lowest rank.
#pragma once

#include <vector>

#include "comm/trace.h"
#include "replay/clock.h"
#include "viewer/messages.h"

namespace rankbox {

/// The events from the start of the run to its end, each beginning when the one before ended. A
/// message is one event there: the side by which the path goes on. Waits are not part of it, nor
/// is what takes no time. Cost: O(E log E).
///
/// REQUIRES: `replay` is a replay of `trace`.
std::vector<EventId> critical_path(const Trace& trace, const Replay& replay);

}  // namespace rankbox
