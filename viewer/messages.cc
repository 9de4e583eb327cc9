#include "viewer/messages.h"

#include <deque>
#include <map>
#include <tuple>

namespace rankbox {

std::vector<Message> match_messages(const Trace& trace) {
  using Mailbox = std::tuple<std::int32_t, int, int>;  // group, source, destination
  std::map<Mailbox, std::deque<EventId>> sends;
  for (int rank = 0; rank < static_cast<int>(trace.ranks.size()); ++rank) {
    const std::vector<Event>& events = trace.ranks[static_cast<std::size_t>(rank)];
    for (std::size_t i = 0; i < events.size(); ++i) {
      if (events[i].kind != EventKind::kSend) continue;
      sends[{events[i].group, rank, events[i].peer}].push_back({rank, i});
    }
  }

  std::vector<Message> messages;
  for (int rank = 0; rank < static_cast<int>(trace.ranks.size()); ++rank) {
    const std::vector<Event>& events = trace.ranks[static_cast<std::size_t>(rank)];
    for (std::size_t i = 0; i < events.size(); ++i) {
      if (events[i].kind != EventKind::kRecv) continue;
      const auto mailbox = sends.find({events[i].group, events[i].peer, rank});
      if (mailbox == sends.end() || mailbox->second.empty()) continue;
      messages.push_back({mailbox->second.front(), {rank, i}});
      mailbox->second.pop_front();
    }
  }
  return messages;
}

}  // namespace rankbox
