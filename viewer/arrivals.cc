#include "viewer/arrivals.h"

namespace rankbox {

std::vector<std::vector<Arrival>> find_arrivals(const Trace& trace, const Replay& replay) {
  std::vector<std::vector<Arrival>> arrivals;
  for (std::size_t rank = 0; rank < trace.ranks.size(); ++rank) {
    const std::vector<Event>& events = trace.ranks[rank];
    std::vector<Arrival>& of_rank = arrivals.emplace_back();
    of_rank.reserve(events.size() + 1);
    Arrival now;
    for (std::size_t i = 0; i < events.size();) {
      // Of a wait, `paired` says something else.
      const bool is_half = events[i].paired && events[i].kind != EventKind::kWait;
      const std::size_t halves = is_half && i + 1 < events.size() ? 2 : 1;
      of_rank.insert(of_rank.end(), halves, now);
      for (std::size_t end = i + halves; i < end; ++i) {
        const double ended = replay.spans[rank][i].end;
        if (!events[i].async && ended > now.when) now = {ended, i};
      }
    }
    of_rank.push_back(now);
  }
  return arrivals;
}

}  // namespace rankbox
