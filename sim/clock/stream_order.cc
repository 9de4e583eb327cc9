#include "sim/clock/stream_order.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <unordered_map>
#include <utility>

#include "sim/clock/call_groups.h"
#include "sim/clock/route.h"

namespace rankbox {
namespace {

/// A rank's part in a message or a collective.
struct Operation {
  const Event* event = nullptr;
  bool of_sendrecv = false;
  bool started = false;  // it has reached the head of its stream; a collective: it was called
  bool done = false;
  bool waited = false;      // by the call in which the rank is
  std::uint32_t group = 0;  // of call_groups()
};

bool is_message(const Operation& operation) {
  return operation.event->kind != EventKind::kCollective;
}

bool is_send(const Operation& operation) { return operation.event->kind == EventKind::kSend; }

StreamCall call_of(const Operation& operation) {
  const Event& event = *operation.event;
  const char* name = name_of(event);
  if (event.async && is_message(operation)) name = is_send(operation) ? "isend" : "irecv";
  if (operation.of_sendrecv) name = "sendrecv";
  return {name, is_message(operation) ? event.peer : -1, event.place};
}

/// A message or collective of a rank; -1: none.
struct Id {
  int rank = -1;
  std::size_t number = 0;  // in the order of its calls
  bool operator==(const Id&) const = default;
};

class StreamReplay {
 public:
  StreamReplay(const Trace& trace, bool buffered)
      : trace_(trace), buffered_(buffered), ranks_(trace.ranks.size()) {
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank)
      ranks_[rank].groups = call_groups(trace.ranks[rank]);
  }

  /// Returns the circle in which ranks wait for each other; empty: every rank has ended.
  std::vector<StreamWait> run() {
    for (int rank = 0; rank < static_cast<int>(ranks_.size()); ++rank) ready_.push_back(rank);
    while (!ready_.empty()) {
      const int rank = ready_.front();
      ready_.pop_front();
      start_groups(rank);
      walk(rank);
    }
    for (int rank = 0; rank < static_cast<int>(ranks_.size()); ++rank) {
      if (!is_over(rank)) return circle_from(rank);
    }
    return {};
  }

 private:
  struct Rank {
    std::vector<std::uint32_t> groups{};                        // [event of the trace]
    std::size_t next = 0;                                       // event of the trace
    bool blocked = false;                                       // in the call that begins there
    std::vector<std::size_t> waited{};                          // what that call waits for
    std::size_t waited_open = 0;                                // and how much of it is not done
    std::deque<Operation> operations{};                         // by number
    std::unordered_map<std::uint32_t, std::size_t> requests{};  // the number of each open request
    std::vector<std::size_t> called{};                          // not in the stream yet
    std::deque<std::vector<std::size_t>> stream{};  // groups; the first one may be under way
    bool under_way = false;
    std::size_t open = 0;  // of the group under way: what is not done
  };
  /// The messages on a route of which one side is under way: all sends, or all receives.
  using Mailbox = std::deque<Id>;

  Rank& state(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  const std::vector<Event>& events_of(int rank) const {
    return trace_.ranks[static_cast<std::size_t>(rank)];
  }
  Operation& at(Id id) { return state(id.rank).operations[id.number]; }
  bool is_over(int rank) { return state(rank).next == events_of(rank).size(); }

  static Route route_of(int rank, const Operation& operation) {
    const Event& event = *operation.event;
    return is_send(operation) ? Route{event.group, rank, event.peer}
                              : Route{event.group, event.peer, rank};
  }

  // ---- A rank's calls -------------------------------------------------------------------------

  void walk(int number) {
    Rank& rank = state(number);
    while (!is_over(number)) {
      if (!rank.blocked) call(number);
      if (rank.waited_open > 0) return;
      rank.next += steps_of(number);
      rank.blocked = false;
      rank.waited.clear();
    }
    hand_over(number);
  }

  /// Returns the number of events of the call at which the rank is.
  std::size_t steps_of(int number) {
    const std::vector<Event>& events = events_of(number);
    const std::size_t next = state(number).next;
    std::size_t steps = 1;
    if (events[next].kind == EventKind::kWait) {
      const auto continues = [&](const Event& event) {
        return event.kind == EventKind::kWait && event.paired;
      };
      while (next + steps < events.size() && continues(events[next + steps])) ++steps;
    } else if (events[next].paired && next + 1 < events.size()) {
      steps = 2;
    }
    return steps;
  }

  /// Begins the call at which the rank is.
  void call(int number) {
    Rank& rank = state(number);
    const std::vector<Event>& events = events_of(number);
    const Event& first = events[rank.next];
    if (first.kind == EventKind::kCompute || first.kind == EventKind::kReduce) return;
    rank.blocked = true;
    const std::size_t steps = steps_of(number);
    if (first.kind == EventKind::kWait) {
      for (std::size_t i = 0; i < steps; ++i) {
        const auto request = rank.requests.find(events[rank.next + i].request);
        if (request == rank.requests.end()) continue;
        wait_for(rank, request->second);
        rank.requests.erase(request);
      }
      hand_over(number);
      return;
    }
    std::vector<std::size_t> begun;
    for (std::size_t i = 0; i < steps; ++i) {
      const Event& event = events[rank.next + i];
      const bool is_collective = event.kind == EventKind::kCollective;
      const bool is_local = !is_collective && (event.bytes == 0 || event.peer == number);
      if (!is_local) begun.push_back(rank.operations.size());
      if (event.async) rank.requests[event.request] = rank.operations.size();
      rank.operations.push_back({.event = &event,
                                 .of_sendrecv = steps == 2,
                                 .done = is_local,
                                 .group = rank.groups[rank.next + i]});
    }
    if (!first.async) {
      hand_over(number);
      for (const std::size_t each : begun) wait_for(rank, each);
    }
    if (begun.empty()) return;
    if (first.kind == EventKind::kCollective) {
      arrive({number, begun.front()});
    } else if (first.async) {
      rank.called.push_back(begun.front());
    } else {
      append(number, std::move(begun));
    }
  }

  static void wait_for(Rank& rank, std::size_t operation) {
    if (rank.operations[operation].done) return;
    rank.operations[operation].waited = true;
    rank.waited.push_back(operation);
    ++rank.waited_open;
  }

  void arrive(Id id) {
    const Event& event = *at(id).event;
    at(id).started = true;
    std::vector<Id>& arrived = arrivals_[{event.group, begun_[{event.group, id.rank}]++}];
    arrived.push_back(id);
    if (arrived.size() < trace_.groups[static_cast<std::size_t>(event.group)].size()) return;
    for (const Id each : arrived) finish(each);
  }

  // ---- A rank's stream ------------------------------------------------------------------------

  /// Appends what the rank has called to its stream.
  void hand_over(int number) {
    Rank& rank = state(number);
    std::vector<std::size_t> group;
    for (const std::size_t called : std::exchange(rank.called, {})) {
      const std::uint32_t its_group = rank.operations[called].group;
      if (!group.empty() && rank.operations[group.back()].group != its_group)
        append(number, std::exchange(group, {}));
      group.push_back(called);
    }
    if (!group.empty()) append(number, std::move(group));
  }

  void append(int number, std::vector<std::size_t> group) {
    state(number).stream.push_back(std::move(group));
    if (state(number).stream.size() == 1) start_groups(number);
  }

  /// Returns what is not done in the group under way.
  std::optional<std::size_t> first_open(int number) {
    Rank& rank = state(number);
    for (const std::size_t each : rank.stream.front()) {
      if (!rank.operations[each].done) return each;
    }
    return std::nullopt;
  }

  /// Starts the first group, and all that follow those that are done at once.
  void start_groups(int number) {
    Rank& rank = state(number);
    while (true) {
      if (rank.under_way && rank.open > 0) return;
      if (std::exchange(rank.under_way, false)) rank.stream.pop_front();
      if (rank.stream.empty()) return;
      rank.under_way = true;
      rank.open = rank.stream.front().size();
      for (const std::size_t each : rank.stream.front()) start({number, each});
    }
  }

  void start(Id id) {
    Operation& operation = at(id);
    operation.started = true;
    Mailbox& mailbox = mailboxes_[route_of(id.rank, operation)];
    if (mailbox.empty() || is_send(at(mailbox.front())) == is_send(operation)) {
      mailbox.push_back(id);
      if (buffered_ && is_send(operation)) finish(id);
      return;
    }
    const Id other = mailbox.front();
    mailbox.pop_front();
    finish(id);
    finish(other);
  }

  void finish(Id id) {
    Operation& operation = at(id);
    if (std::exchange(operation.done, true)) return;
    Rank& rank = state(id.rank);
    if (operation.waited) --rank.waited_open;
    // The rank itself takes the next group: this may be in the middle of starting the group.
    if (is_message(operation)) --rank.open;
    ready_.push_back(id.rank);
  }

  // ---- The circle -----------------------------------------------------------------------------

  struct Step {
    StreamWait wait;
    Id ahead;
  };

  /// Returns the circle to which the waits of a rank lead, once no rank can go on.
  std::vector<StreamWait> circle_from(int rank) {
    std::vector<Step> path;
    Id wanted{rank};
    bool is_called = false;
    while (true) {
      const Step step = wait_of(wanted, is_called);
      const auto seen = std::ranges::find(path, step.ahead, &Step::ahead);
      if (seen != path.end()) {
        *seen = step;  // it says for which message the circle comes back
        path.erase(path.begin(), seen);
        break;
      }
      path.push_back(step);
      is_called = find_other_side(step.ahead, &wanted);
    }
    const auto by_rank = [](const Step& step) { return step.wait.rank; };
    std::rotate(path.begin(), std::ranges::min_element(path, {}, by_rank), path.end());
    std::vector<StreamWait> circle;
    for (const Step& step : path) circle.push_back(step.wait);
    return circle;
  }

  /// Returns what the rank of `wanted` waits for.
  /// @param is_called whether it has called `wanted`, which is then queued; else its own call waits
  Step wait_of(Id wanted, bool is_called) {
    Rank& rank = state(wanted.rank);
    if (!is_called) {
      const auto is_open = [&](std::size_t waited) { return !rank.operations[waited].done; };
      wanted.number = *std::ranges::find_if(rank.waited, is_open);
    }
    if (at(wanted).started) return {{wanted.rank, std::nullopt, call_of(at(wanted))}, wanted};
    const Id ahead{wanted.rank, *first_open(wanted.rank)};
    return {{wanted.rank, call_of(at(wanted)), call_of(at(ahead))}, ahead};
  }

  /// Sets `other` to the rank that `id` waits for, and its side of the message. Returns false if
  /// the rank has not called it.
  bool find_other_side(Id id, Id* other) {
    const Event& event = *at(id).event;
    if (!is_message(at(id))) {
      const std::vector<Id>& arrived = arrivals_[{event.group, number_of_collective(id)}];
      for (const int member : trace_.groups[static_cast<std::size_t>(event.group)]) {
        other->rank = member;
        if (std::ranges::find(arrived, member, &Id::rank) == arrived.end()) return false;
      }
      return false;
    }
    const Route route = route_of(id.rank, at(id));
    std::size_t before = 0;  // messages of the route before this one
    for (std::size_t i = 0; i < id.number; ++i) {
      const Operation& earlier = at({id.rank, i});
      before += is_on(route, id.rank, earlier) && is_send(earlier) == is_send(at(id)) ? 1U : 0U;
    }
    other->rank = event.peer;
    for (std::size_t i = 0; i < state(event.peer).operations.size(); ++i) {
      const Operation& theirs = at({event.peer, i});
      if (!is_on(route, event.peer, theirs) || is_send(theirs) == is_send(at(id))) continue;
      other->number = i;
      if (before-- == 0) return true;
    }
    return false;
  }

  static bool is_on(const Route& route, int rank, const Operation& operation) {
    return is_message(operation) && operation.event->bytes > 0 &&
           route_of(rank, operation) == route;
  }

  std::size_t number_of_collective(Id id) {
    std::size_t before = 0;
    for (std::size_t i = 0; i < id.number; ++i) {
      const Operation& earlier = at({id.rank, i});
      if (!is_message(earlier) && earlier.event->group == at(id).event->group) ++before;
    }
    return before;
  }

  const Trace& trace_;
  const bool buffered_;  // a send ends when it starts
  std::vector<Rank> ranks_;
  std::deque<int> ready_;  // ranks whose stream, or wait, may go on
  std::unordered_map<Route, Mailbox, HashOfRoute> mailboxes_;
  std::map<std::pair<int, std::size_t>, std::vector<Id>> arrivals_;  // (group, number)
  std::map<std::pair<int, int>, std::size_t> begun_;                 // (group, rank)
};

}  // namespace

std::optional<StreamHang> find_stream_hang(const Trace& trace) {
  bool starts_messages = false;
  bool buffers = false;
  for (const std::vector<Event>& events : trace.ranks) {
    for (const Event& event : events) {
      starts_messages |= event.async && event.kind != EventKind::kCollective;
      buffers |= event.buffered;
    }
  }
  if (!starts_messages) return std::nullopt;
  for (const bool buffered : {true, false}) {
    if (!buffered && buffers) break;
    std::vector<StreamWait> circle = StreamReplay(trace, buffered).run();
    if (!circle.empty()) return StreamHang{!buffered, std::move(circle)};
  }
  return std::nullopt;
}

}  // namespace rankbox
