#include "sim/clock/call_groups.h"

#include <cstddef>
#include <unordered_set>

namespace rankbox {
namespace {

bool is_message(const Event& event) {
  return event.kind == EventKind::kSend || event.kind == EventKind::kRecv;
}

/// Returns whether the rank does not go on before others have called, too.
bool blocks(const Event& event) {
  return event.kind == EventKind::kWait ||
         ((is_message(event) || event.kind == EventKind::kCollective) && !event.async);
}

}  // namespace

std::vector<std::uint32_t> call_groups(const std::vector<Event>& events) {
  std::vector<std::uint32_t> groups(events.size());
  std::vector<std::size_t> started;  // since the rank last blocked
  std::uint32_t last = 0;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (events[i].async && is_message(events[i])) {
      started.push_back(i);
      groups[i] = ++last;
    }
    if (!blocks(events[i]) || started.empty()) continue;
    std::unordered_set<std::uint32_t> waited;
    if (events[i].kind == EventKind::kWait) {
      waited.insert(events[i].request);
      for (std::size_t next = i + 1; next < events.size(); ++next) {
        if (events[next].kind != EventKind::kWait || !events[next].paired) break;
        waited.insert(events[next].request);
      }
    }
    for (std::size_t k = 1; k < started.size(); ++k) {
      if (waited.contains(events[started[k - 1]].request) &&
          waited.contains(events[started[k]].request)) {
        groups[started[k]] = groups[started[k - 1]];
      }
    }
    started.clear();
  }
  return groups;
}

std::vector<bool> joining_sends(const std::vector<Event>& events) {
  const std::vector<std::uint32_t> groups = call_groups(events);
  std::vector<bool> joins(events.size());
  std::uint32_t sent = 0;  // the group of the last send
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (groups[i] == 0 || events[i].kind != EventKind::kSend) continue;
    joins[i] = groups[i] == sent;
    sent = groups[i];
  }
  return joins;
}

}  // namespace rankbox
