#include "viewer/critical_path.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "viewer/arrivals.h"
#include "viewer/links.h"

namespace rankbox {
namespace {

constexpr EventId kNone{};

class PathFinder {
 public:
  PathFinder(const Trace& trace, const Replay& replay)
      : trace_(trace),
        replay_(replay),
        links_(link_events(trace)),
        arrivals_(find_arrivals(trace, replay)) {
    find_meetings();
  }

  std::vector<EventId> find() {
    std::vector<EventId> path;
    std::size_t most = 0;
    for (const std::vector<Event>& events : trace_.ranks) most += events.size();
    // A path visits no event twice; the bound only guards against a replay of another trace.
    for (EventId at = last(); at != kNone && path.size() < most; at = before(at)) {
      if (event(at).kind != EventKind::kWait) path.push_back(at);
    }
    std::reverse(path.begin(), path.end());
    return path;
  }

 private:
  const Event& event(EventId id) const {
    return trace_.ranks[static_cast<std::size_t>(id.rank)][id.event];
  }
  const Span& span(EventId id) const {
    return replay_.spans[static_cast<std::size_t>(id.rank)][id.event];
  }
  const Arrival& arrival(EventId id) const {
    return arrivals_[static_cast<std::size_t>(id.rank)][id.event];
  }
  EventId link(EventId id) const { return links_[static_cast<std::size_t>(id.rank)][id.event]; }

  /// Returns the rank's own event that ended when it reached this one: of several, what brought
  /// data.
  EventId kept_by(EventId id) const {
    const Arrival& when = arrival(id);
    if (!when.after) return kNone;
    for (std::size_t i = *when.after; i < id.event; ++i) {
      if (brought_data({id.rank, i}, when.when)) return {id.rank, i};
    }
    return {id.rank, *when.after};
  }

  /// Whether a receive, or a wait for one, ended then.
  bool brought_data(EventId id, double then) const {
    const EventId of = event(id).kind == EventKind::kWait ? link(id) : id;
    if (of == kNone || event(of).kind != EventKind::kRecv) return false;
    if (of == id && event(of).async) return false;
    return span(of).end == then && span(of).begin < then;
  }

  EventId last() const {
    EventId latest;
    double end = 0;
    for (int rank = 0; rank < static_cast<int>(arrivals_.size()); ++rank) {
      const std::vector<Arrival>& of_rank = arrivals_[static_cast<std::size_t>(rank)];
      const Arrival& done = of_rank.back();
      if (!done.after || done.when < end) continue;
      const EventId event = kept_by({rank, of_rank.size() - 1});
      const bool is_later = done.when > end;
      if (!is_later && (brought_data(latest, end) || !brought_data(event, end))) continue;
      latest = event;
      end = done.when;
    }
    return latest;
  }

  EventId before(EventId id) {
    switch (event(id).kind) {
      case EventKind::kCompute:
      case EventKind::kReduce:
        return kept_by(id);
      case EventKind::kWait:
        return link(id);  // listed only if it set the rank's clock, so the rank did wait
      case EventKind::kSend:
      case EventKind::kRecv:
      case EventKind::kCollective:
        return before_transfer(id);
    }
    return kNone;
  }

  EventId before_transfer(EventId id) {
    const double begin = span(id).begin;
    if (begin == 0) return kNone;
    // A buffered message can be received from the moment its transfer began, which depends on its
    // sender.
    const EventId sender = event(id).kind == EventKind::kRecv ? link(id) : kNone;
    if (sender != kNone && event(sender).buffered && span(sender).begin == begin)
      return before(sender);
    const std::vector<EventId> sides = sides_of(id);
    for (const EventId side : sides) {
      if (arrival(side).when == begin) return kept_by(side);
    }
    for (const EventId side : sides) {
      const EventId holder = port_holder(side, begin);
      if (holder != kNone) return holder;
    }
    return kNone;
  }

  /// Returns the sides on which the begin of an event depends: of a message the sender first, whose
  /// data it brings; of a collective the event itself.
  std::vector<EventId> sides_of(EventId id) const {
    std::vector<EventId> sides = {id};
    const EventId other = link(id);
    if (event(id).kind == EventKind::kCollective) {
      for (const EventId side : meetings_.at(meeting_of_.at({id.rank, id.event}))) {
        if (side != id) sides.push_back(side);
      }
    } else if (event(id).kind == EventKind::kSend) {
      if (!event(id).buffered && other != kNone) sides.push_back(other);
    } else if (other != kNone && !event(other).buffered) {
      sides.insert(sides.begin(), other);
    }
    return sides;
  }

  using CollectiveId = std::pair<std::int32_t, std::size_t>;  // group, number of its collective

  void find_meetings() {
    for (int rank = 0; rank < static_cast<int>(trace_.ranks.size()); ++rank) {
      std::map<std::int32_t, std::size_t> begun;  // by group
      const std::vector<Event>& events = trace_.ranks[static_cast<std::size_t>(rank)];
      for (std::size_t i = 0; i < events.size(); ++i) {
        if (events[i].kind != EventKind::kCollective) continue;
        const CollectiveId meeting{events[i].group, begun[events[i].group]++};
        meetings_[meeting].push_back({rank, i});
        meeting_of_[{rank, i}] = meeting;
      }
    }
  }

  /// Returns the transfer of that rank that held a port until then which this one needs.
  EventId port_holder(EventId id, double until) {
    if (by_end_.empty()) sort_by_end();
    const auto& ended = by_end_[static_cast<std::size_t>(id.rank)];
    for (auto at = std::lower_bound(ended.begin(), ended.end(), std::pair{until, std::size_t{0}});
         at != ended.end() && at->first == until; ++at) {
      const EventId other{id.rank, at->second};
      const EventKind kind = event(other).kind;
      if (kind == EventKind::kCollective || event(id).kind == EventKind::kCollective ||
          kind == event(id).kind)
        return other;
    }
    return kNone;
  }

  void sort_by_end() {
    by_end_.resize(trace_.ranks.size());
    for (std::size_t rank = 0; rank < trace_.ranks.size(); ++rank) {
      for (std::size_t i = 0; i < trace_.ranks[rank].size(); ++i) {
        const EventKind kind = trace_.ranks[rank][i].kind;
        const Span& when = replay_.spans[rank][i];
        const bool transfers =
            kind == EventKind::kSend || kind == EventKind::kRecv || kind == EventKind::kCollective;
        // An event that takes no time holds no port, and would allow cycles in a path.
        if (transfers && when.end > when.begin) by_end_[rank].emplace_back(when.end, i);
      }
      std::sort(by_end_[rank].begin(), by_end_[rank].end());
    }
  }

  const Trace& trace_;
  const Replay& replay_;
  const std::vector<std::vector<EventId>> links_;
  const std::vector<std::vector<Arrival>> arrivals_;
  std::map<CollectiveId, std::vector<EventId>> meetings_;
  std::map<std::pair<int, std::size_t>, CollectiveId> meeting_of_;
  std::vector<std::vector<std::pair<double, std::size_t>>> by_end_;  // [rank], filled on demand
};

}  // namespace

std::vector<EventId> critical_path(const Trace& trace, const Replay& replay) {
  return PathFinder(trace, replay).find();
}

}  // namespace rankbox
