// Matching of sends and receives in a trace.
#pragma once

#include <cstddef>
#include <vector>

#include "comm/trace.h"

namespace rankbox {

/// An event of a trace: trace.ranks[rank][event].
struct EventId {
  int rank = -1;
  std::size_t event = 0;
  bool operator==(const EventId&) const = default;
};

struct Message {
  EventId send;
  EventId recv;
  bool operator==(const Message&) const = default;
};

/// Pairs the k-th send from s to d of a group with the k-th receive at d from s, ordered by
/// receiving rank and event. Unmatched sends and receives are omitted. Cost: O(E log p).
std::vector<Message> match_messages(const Trace& trace);

}  // namespace rankbox
