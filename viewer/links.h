// Which event of a trace each event is tied to.
#pragma once

#include <vector>

#include "comm/trace.h"
#include "viewer/messages.h"

namespace rankbox {

/// [rank][event]: of a send its receive and the other way round, of a wait the operation that it
/// waits for; rank -1 where there is none. Cost: O(E log p).
std::vector<std::vector<EventId>> link_events(const Trace& trace);

}  // namespace rankbox
