#include "viewer/links.h"

#include <cstddef>
#include <cstdint>
#include <unordered_map>

namespace rankbox {

std::vector<std::vector<EventId>> link_events(const Trace& trace) {
  std::vector<std::vector<EventId>> links;
  for (const std::vector<Event>& events : trace.ranks) links.emplace_back(events.size());
  const auto link = [&](EventId from, EventId to) {
    links[static_cast<std::size_t>(from.rank)][from.event] = to;
  };
  for (const Message& message : match_messages(trace)) {
    link(message.send, message.recv);
    link(message.recv, message.send);
  }
  for (int rank = 0; rank < static_cast<int>(trace.ranks.size()); ++rank) {
    const std::vector<Event>& events = trace.ranks[static_cast<std::size_t>(rank)];
    std::unordered_map<std::uint32_t, std::size_t> started;  // by number of the request
    for (std::size_t i = 0; i < events.size(); ++i) {
      if (events[i].async) started[events[i].request] = i;
      if (events[i].kind != EventKind::kWait) continue;
      const auto operation = started.find(events[i].request);
      if (operation != started.end()) link({rank, i}, {rank, operation->second});
    }
  }
  return links;
}

}  // namespace rankbox
