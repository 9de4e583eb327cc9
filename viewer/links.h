// Links between the events of a trace.
#pragma once

#include <vector>

#include "comm/trace.h"
#include "viewer/messages.h"

namespace rankbox {

/// Returns [rank][event]: for a send its receive and vice versa, for a wait its operation; rank -1
/// if there is none. Cost: O(E log p).
std::vector<std::vector<EventId>> link_events(const Trace& trace);

}  // namespace rankbox
