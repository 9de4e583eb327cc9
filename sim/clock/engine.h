// The engine behind clock.h: replays a trace without running it.
//
// Each rank advances through its events until one has to wait. An operation that all sides have
// reached is executed, which lets ranks advance. Messages that may compete for a port are executed
// in the order of their earliest possible start. That is sound: an operation that is not known yet
// begins after one now in flight has ended, so never before the earliest known one. Where nothing
// competes, any order gives the same times, and messages are executed at once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "comm/trace.h"
#include "sim/clock/agenda.h"
#include "sim/clock/call_groups.h"
#include "sim/clock/clock.h"
#include "sim/clock/contributions.h"
#include "sim/clock/native_cost.h"
#include "sim/clock/replay_start.h"
#include "sim/clock/route.h"

namespace rankbox {

/// @tparam Tariff has a type Time with +=, later(Time, Time), seconds(Time) to order by, and the
///                prices message(), reduction(), compute() and native()
template <class Tariff>
class ReplayEngine {
 public:
  using Time = typename Tariff::Time;

  /// @param contended whether messages may compete for ports (see above)
  /// @param spans receives the begin and end of each event; null: not recorded
  ReplayEngine(const Trace& trace, Tariff tariff, const Cluster& chooser, bool contended,
               std::vector<std::vector<Span>>* spans)
      : trace_(trace),
        tariff_(std::move(tariff)),
        chooser_(chooser),
        contended_(contended),
        spans_(spans),
        agenda_(contended ? trace.ranks.size() : 0) {
    ranks_.resize(trace.ranks.size());
    for (std::size_t rank = 0; contended && chooser.call > 0 && rank < ranks_.size(); ++rank)
      ranks_[rank].joins = joining_sends(trace.ranks[rank]);
  }

  /// Begins where an earlier replay ended, instead of at 0. Call before run().
  /// @param starts [rank]; none: at 0
  void begin_at(const std::vector<ReplayStart<Time>>& starts) {
    for (std::size_t r = 0; r < starts.size(); ++r) {
      Rank& rank = ranks_[r];
      rank.now = starts[r].now;
      rank.first = rank.next = starts[r].first_event;
      for (std::size_t i = 0; i < starts[r].ended.size(); ++i) {
        const std::optional<Time>& end = starts[r].ended[i];
        if (!end.has_value()) continue;
        rank.current[i] = {.ready = rank.now, .end = *end, .issued = true, .done = true};
        const bool sends = trace_.ranks[r][i].kind == EventKind::kSend;
        const int number = static_cast<int>(r);
        sends ? occupy_send_port(number, *end) : occupy_recv_port(number, *end);
      }
    }
  }

  /// Returns the ranks' clocks at their ends.
  std::vector<Time> run() {
    for (int rank = 0; rank < static_cast<int>(ranks_.size()); ++rank) walk(rank);
    walk_those_released();
    Meeting next;
    while (agenda_.take_next(&next)) {
      carry_out(next);
      walk_those_released();
    }
    std::vector<Time> clocks;
    for (const Rank& rank : ranks_) clocks.push_back(rank.now);
    return clocks;
  }

 private:
  /// One rank's side of a message or collective.
  struct Transfer {
    Time ready{};  // when this side reached it
    Time end{};
    bool issued = false;
    bool done = false;
  };
  /// The messages on a route that one side has reached: all sends, or all receives.
  struct Mailbox {
    std::vector<std::size_t> events;
    std::size_t first = 0;  // those before it are matched
    bool sends = false;
  };
  using Arrivals = std::vector<EventId>;  // the ranks that have reached a collective
  struct Rank {
    Time now{};
    Time send_port{};  // when it is free
    Time recv_port{};
    std::size_t first = 0;  // event of the trace; begin_at() skips those before it
    std::size_t next = 0;   // event
    bool waiting = false;
    Transfer current[2];  // of the events `next` and, in a sendrecv, `next + 1`
    std::unordered_map<std::uint32_t, Transfer> open;  // [request] until it is waited for
    std::unordered_map<std::size_t, Time> left;  // when buffered sends began, until the receive
    std::vector<bool> joins;  // [event] sends that start with an earlier one; empty: none
  };

  const Event& event_of(EventId id) const {
    const auto rank = static_cast<std::size_t>(id.rank);
    return trace_.ranks[rank][id.event - ranks_[rank].first];
  }
  Rank& rank_of(EventId id) { return ranks_[static_cast<std::size_t>(id.rank)]; }
  Transfer& transfer_of(EventId id) {
    Rank& rank = rank_of(id);
    const Event& event = event_of(id);
    return event.async ? rank.open[event.request] : rank.current[id.event - rank.next];
  }
  /// Returns when this side of a message reached it.
  const Time& ready(EventId id) {
    return event_of(id).buffered ? rank_of(id).left.at(id.event) : transfer_of(id).ready;
  }
  bool same_node(int a, int b) const {
    return trace_.nodes[static_cast<std::size_t>(a)] == trace_.nodes[static_cast<std::size_t>(b)];
  }
  Time sum(Time time, const Time& price) const {
    time += price;
    return time;
  }
  void advance(Time& time, const Time& to) const { time = tariff_.later(time, to); }
  void note(EventId id, const Time& begin, const Time& end) {
    if (spans_ == nullptr) return;
    (*spans_)[static_cast<std::size_t>(id.rank)][id.event] = {tariff_.seconds(begin),
                                                              tariff_.seconds(end)};
  }

  // ---- Walking ------------------------------------------------------------------------------

  void walk_those_released() {
    while (!released_.empty()) {
      const int rank = released_.front();
      released_.pop_front();
      walk(rank);
    }
  }

  /// Advances a rank until it waits or ends.
  void walk(int number) {
    Rank& rank = ranks_[static_cast<std::size_t>(number)];
    const std::vector<Event>& events = trace_.ranks[static_cast<std::size_t>(number)];
    const std::size_t end = rank.first + events.size();
    while (rank.next < end) {
      const Event& event = events[rank.next - rank.first];
      const EventId id{number, rank.next};
      std::size_t steps = 1;
      bool goes_on = true;
      switch (event.kind) {
        case EventKind::kCompute:
          spend(id, tariff_.compute(event.seconds));
          break;
        case EventKind::kReduce:
          spend(id, tariff_.reduction(static_cast<double>(event.bytes)));
          break;
        case EventKind::kWait:
          goes_on = wait(id, event);
          break;
        case EventKind::kSend:
        case EventKind::kRecv:
        case EventKind::kCollective:
          // The halves of a sendrecv start together and are waited for together.
          steps = event.paired && rank.next + 1 < end ? 2 : 1;
          goes_on = communicate(id, steps);
          break;
      }
      if (!goes_on) {
        rank.waiting = true;
        return;
      }
      rank.next += steps;
    }
  }

  void spend(EventId id, const Time& price) {
    Rank& rank = rank_of(id);
    const Time begin = rank.now;
    rank.now += price;
    note(id, begin, rank.now);
  }

  /// Returns false if the operation is unfinished.
  bool wait(EventId id, const Event& event) {
    Rank& rank = rank_of(id);
    const auto started = rank.open.find(event.request);
    if (started == rank.open.end()) return true;
    const Transfer& transfer = started->second;
    if (!transfer.done) return false;
    const Time begin = rank.now;
    advance(rank.now, transfer.end);
    note(id, begin, rank.now);
    rank.open.erase(started);
    return true;
  }

  /// Issues `halves` events from `id` on, unless already issued. Returns false if the rank must
  /// wait for them.
  bool communicate(EventId id, std::size_t halves) {
    Rank& rank = rank_of(id);
    const auto half = [&](std::size_t i) -> Transfer& {
      return transfer_of({id.rank, id.event + i});
    };
    for (std::size_t i = 0; i < halves; ++i) {
      if (!half(i).issued) issue({id.rank, id.event + i});
    }
    if (event_of(id).async) return true;
    for (std::size_t i = 0; i < halves; ++i) {
      if (!half(i).done) return false;
    }
    for (std::size_t i = 0; i < halves; ++i) advance(rank.now, half(i).end);
    rank.current[0] = rank.current[1] = {};
    return true;
  }

  // ---- Matching -----------------------------------------------------------------------------

  void issue(EventId id) {
    const Event& event = event_of(id);
    Rank& rank = rank_of(id);
    Transfer& transfer = transfer_of(id);
    transfer.issued = true;
    transfer.ready = rank.now;
    if (event.kind == EventKind::kCollective) {
      join_collective(id, event);
      return;
    }
    if (event.buffered) leave_buffered(id, event);
    const bool sends = event.kind == EventKind::kSend;
    const Route route =
        sends ? Route{event.group, id.rank, event.peer} : Route{event.group, event.peer, id.rank};
    Mailbox& mailbox = mailboxes_[route];
    if (mailbox.first == mailbox.events.size()) {
      mailbox.events.clear();
      mailbox.first = 0;
      mailbox.sends = sends;
    }
    if (mailbox.sends == sends) {
      mailbox.events.push_back(id.event);
      return;
    }
    const EventId other{event.peer, mailbox.events[mailbox.first++]};
    const Meeting meeting =
        sends ? Meeting{.send = id, .recv = other} : Meeting{.send = other, .recv = id};
    if (event_of(other).bytes == event.bytes) offer(meeting);  // otherwise the run ended there
  }

  /// A buffered send ends for its sender once it has left; the receiver may start when it starts.
  void leave_buffered(EventId id, const Event& event) {
    Rank& rank = rank_of(id);
    Transfer& transfer = transfer_of(id);
    advance(transfer.ready, rank.send_port);
    transfer.end = sum(transfer.ready, price_of_message(id, event.peer));
    transfer.done = true;
    rank.left[id.event] = transfer.ready;
    occupy_send_port(id.rank, transfer.end);
    note(id, transfer.ready, transfer.end);
  }

  void join_collective(EventId id, const Event& event) {
    // The k-th collective of a group is the k-th of each of its ranks.
    const std::size_t number = collectives_begun_[{event.group, id.rank}]++;
    Arrivals& arrived = arrivals_[{event.group, number}];
    arrived.push_back(id);
    if (arrived.size() < trace_.groups[static_cast<std::size_t>(event.group)].size()) return;
    for (const EventId& side : arrived) {
      if (event_of(side).collective != event.collective) return;  // the run ended there
    }
    Meeting meeting;
    // The order of arrival here depends on the order of walks.
    const auto by_rank = [](EventId a, EventId b) { return a.rank < b.rank; };
    meeting.send = meeting.recv = *std::min_element(arrived.begin(), arrived.end(), by_rank);
    meeting.arrivals = &arrived;
    offer(meeting);
  }

  void offer(const Meeting& meeting) {
    if (!contended_) {
      carry_out(meeting);
      return;
    }
    if (meeting.arrivals == nullptr) {
      const Time both = tariff_.later(ready(meeting.send), ready(meeting.recv));
      agenda_.add_message(meeting, tariff_.seconds(both), event_of(meeting.send).buffered);
    } else {
      agenda_.add_collective(meeting, tariff_.seconds(start_of(meeting)));
    }
  }

  // ---- Execution ----------------------------------------------------------------------------

  Time start_of(const Meeting& meeting) {
    Time start{};
    const auto consider = [&](EventId id, bool send, bool recv) {
      advance(start, ready(id));
      if (send) advance(start, rank_of(id).send_port);
      if (recv) advance(start, rank_of(id).recv_port);
    };
    if (meeting.arrivals != nullptr) {
      for (const EventId& side : *meeting.arrivals) consider(side, true, true);
    } else {
      consider(meeting.send, !event_of(meeting.send).buffered, false);
      consider(meeting.recv, false, true);
    }
    return start;
  }

  void occupy_send_port(int number, const Time& until) {
    ranks_[static_cast<std::size_t>(number)].send_port = until;
    if (contended_) agenda_.set_send_port(number, tariff_.seconds(until));
  }
  void occupy_recv_port(int number, const Time& until) {
    ranks_[static_cast<std::size_t>(number)].recv_port = until;
    if (contended_) agenda_.set_recv_port(number, tariff_.seconds(until));
  }

  void carry_out(const Meeting& meeting) {
    const Time start = start_of(meeting);
    if (meeting.arrivals != nullptr) {
      const Time end = sum(start, price_of_collective(*meeting.arrivals));
      for (const EventId& side : *meeting.arrivals) {
        occupy_send_port(side.rank, end);
        occupy_recv_port(side.rank, end);
        finish(side, start, end);
      }
      return;
    }
    const Event& send = event_of(meeting.send);
    const Time end = sum(start, price_of_message(meeting.send, meeting.recv.rank));
    if (!send.buffered) {
      occupy_send_port(meeting.send.rank, end);
      finish(meeting.send, start, end);
    }
    occupy_recv_port(meeting.recv.rank, end);
    finish(meeting.recv, start, end);
    if (send.buffered) rank_of(meeting.send).left.erase(meeting.send.event);
  }

  void finish(EventId id, const Time& start, const Time& end) {
    Transfer& transfer = transfer_of(id);
    transfer.end = end;
    transfer.done = true;
    note(id, start, end);
    Rank& rank = rank_of(id);
    if (rank.waiting) {
      rank.waiting = false;
      released_.push_back(id.rank);
    }
  }

  Time price_of_message(EventId send, int to) const {
    const Rank& rank = ranks_[static_cast<std::size_t>(send.rank)];
    const bool joins = !rank.joins.empty() && rank.joins[send.event - rank.first];
    return tariff_.message(same_node(send.rank, to), static_cast<double>(event_of(send).bytes),
                           joins);
  }

  Time price_of_collective(const Arrivals& arrived) const {
    const Event& event = event_of(arrived.front());
    std::set<int> nodes;
    Contributions contributions;
    for (const EventId& side : arrived) {
      nodes.insert(trace_.nodes[static_cast<std::size_t>(side.rank)]);
      contributions.add(event_of(side).bytes, side.rank == event.peer);
    }
    const cost::NativeCall call = {.kind = event.collective,
                                   .world_size = static_cast<int>(arrived.size()),
                                   .nodes = static_cast<int>(nodes.size()),
                                   .bytes = contributions.as_equal_pieces(event.collective)};
    return tariff_.native(call, cost::native_cost(call.kind, call.world_size, call.bytes,
                                                  chooser_.link(call.nodes == 1), chooser_.gamma));
  }

  const Trace& trace_;
  const Tariff tariff_;
  const Cluster& chooser_;
  const bool contended_;
  std::vector<std::vector<Span>>* const spans_;

  std::vector<Rank> ranks_;
  std::deque<int> released_;  // ranks whose wait may be over
  std::unordered_map<Route, Mailbox, HashOfRoute> mailboxes_;
  std::map<std::pair<int, std::size_t>, Arrivals> arrivals_;      // (group, number)
  std::map<std::pair<int, int>, std::size_t> collectives_begun_;  // (group, rank)
  Agenda agenda_;                                                 // used where messages compete
};

}  // namespace rankbox
