// The engine behind clock.h: replays a trace without running it.
//
// Each rank advances through its events until one has to wait. An operation that all sides have
// reached is executed, which lets ranks advance. Messages that may compete for a port are executed
// in the order of their earliest possible start. That is sound: an operation that is not known yet
// begins after one now in flight has ended, so never before the earliest known one. Where nothing
// competes, any order gives the same times, and messages are executed at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <queue>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "comm/trace.h"
#include "replay/clock.h"
#include "replay/native_cost.h"
#include "replay/send_queue.h"

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
        spans_(spans) {
    for (const std::vector<Event>& events : trace.ranks) {
      ranks_.emplace_back();
      ranks_.back().transfers.resize(events.size());
    }
  }

  /// Returns the ranks' clocks at their ends.
  std::vector<Time> run() {
    for (int rank = 0; rank < static_cast<int>(ranks_.size()); ++rank) walk(rank);
    walk_those_released();
    while (!agenda_.empty()) {
      carry_out_next();
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
  struct EventId {
    int rank = -1;
    std::size_t event = 0;
  };
  struct Mailbox {
    std::deque<EventId> sends;
    std::deque<EventId> recvs;
  };
  using Arrivals = std::vector<EventId>;  // the ranks that have reached a collective
  /// An operation that all sides have reached: a message or a collective.
  struct Item {
    double earliest = 0;
    // Breaks ties by order of discovery, which is the same in every replay.
    std::uint64_t order = 0;
    EventId send;
    EventId recv;
    const Arrivals* arrivals = nullptr;  // null: a message

    auto key() const {
      return std::tuple(earliest, send.event, recv.event, send.rank, recv.rank, order);
    }
    bool operator<(const Item& other) const {  // the queue serves the greatest first
      return key() > other.key();
    }
  };
  struct Rank {
    Time now{};
    Time send_port{};  // when it is free
    Time recv_port{};
    std::size_t next = 0;  // event
    bool waiting = false;
    SendQueue<Item> outgoing;         // messages both sides have reached; the next is on the agenda
    std::vector<Transfer> transfers;  // [event]
    std::unordered_map<std::uint32_t, std::size_t> requests;  // number -> event that started it
  };

  const Event& event_of(EventId id) const {
    return trace_.ranks[static_cast<std::size_t>(id.rank)][id.event];
  }
  Rank& rank_of(EventId id) { return ranks_[static_cast<std::size_t>(id.rank)]; }
  Transfer& transfer_of(EventId id) { return rank_of(id).transfers[id.event]; }
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
    while (rank.next < events.size()) {
      const Event& event = events[rank.next];
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
          steps = event.paired && rank.next + 1 < events.size() ? 2 : 1;
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
    const auto started = rank.requests.find(event.request);
    if (started == rank.requests.end()) return true;
    const Transfer& transfer = rank.transfers[started->second];
    if (!transfer.done) return false;
    const Time begin = rank.now;
    advance(rank.now, transfer.end);
    note(id, begin, rank.now);
    return true;
  }

  /// Issues `halves` events from `id` on, unless already issued. Returns false if the rank must
  /// wait for them.
  bool communicate(EventId id, std::size_t halves) {
    Rank& rank = rank_of(id);
    bool done = true;
    for (std::size_t i = 0; i < halves; ++i) {
      if (!rank.transfers[id.event + i].issued) issue({id.rank, id.event + i});
    }
    if (event_of(id).async) return true;
    for (std::size_t i = 0; i < halves; ++i) done = done && rank.transfers[id.event + i].done;
    if (!done) return false;
    for (std::size_t i = 0; i < halves; ++i) advance(rank.now, rank.transfers[id.event + i].end);
    return true;
  }

  // ---- Matching -----------------------------------------------------------------------------

  void issue(EventId id) {
    const Event& event = event_of(id);
    Rank& rank = rank_of(id);
    Transfer& transfer = transfer_of(id);
    transfer.issued = true;
    transfer.ready = rank.now;
    if (event.async) rank.requests[event.request] = id.event;
    if (event.kind == EventKind::kCollective) {
      join_collective(id, event);
      return;
    }
    const bool send = event.kind == EventKind::kSend;
    if (event.buffered) leave_buffered(id, event);
    Mailbox& mailbox = send ? mailboxes_[{event.group, id.rank, event.peer}]
                            : mailboxes_[{event.group, event.peer, id.rank}];
    (send ? mailbox.sends : mailbox.recvs).push_back(id);
    if (mailbox.sends.empty() || mailbox.recvs.empty()) return;
    Item item;
    item.send = mailbox.sends.front();
    item.recv = mailbox.recvs.front();
    mailbox.sends.pop_front();
    mailbox.recvs.pop_front();
    if (event_of(item.send).bytes == event_of(item.recv).bytes)
      offer(item);  // otherwise the run ended there
  }

  /// A buffered send ends for its sender once it has left; the receiver may start when it starts.
  void leave_buffered(EventId id, const Event& event) {
    Rank& rank = rank_of(id);
    Transfer& transfer = transfer_of(id);
    advance(transfer.ready, rank.send_port);
    transfer.end = sum(transfer.ready, price_of_message(id.rank, event.peer, event));
    transfer.done = true;
    rank.send_port = transfer.end;
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
    Item item;
    item.send = item.recv = arrived.front();
    item.arrivals = &arrived;
    offer(item);
  }

  void offer(Item item) {
    item.order = ++offered_;
    if (!contended_) {
      carry_out(item);
    } else if (leaves_through_port(item)) {
      const Time ready = tariff_.later(transfer_of(item.send).ready, transfer_of(item.recv).ready);
      rank_of(item.send).outgoing.add(tariff_.seconds(ready), item.send.event, item);
      put_next_on_agenda(item.send.rank);
    } else {
      agenda_.push(timed(item));
    }
  }

  /// Returns false for a buffered message: it leaves independently of its receive.
  bool leaves_through_port(const Item& item) const {
    return item.arrivals == nullptr && !event_of(item.send).buffered;
  }

  Item timed(Item item) {
    item.earliest = tariff_.seconds(earliest(item));
    return item;
  }

  Item next_to_leave(Rank& rank) {
    return timed(rank.outgoing.next(tariff_.seconds(rank.send_port)));
  }

  void put_next_on_agenda(int number) {
    Rank& rank = ranks_[static_cast<std::size_t>(number)];
    if (!rank.outgoing.empty()) agenda_.push(next_to_leave(rank));
  }

  // ---- Execution ----------------------------------------------------------------------------

  Time earliest(const Item& item) {
    Time start{};
    const auto consider = [&](EventId id, bool send, bool recv) {
      advance(start, transfer_of(id).ready);
      if (send) advance(start, rank_of(id).send_port);
      if (recv) advance(start, rank_of(id).recv_port);
    };
    if (item.arrivals != nullptr) {
      for (const EventId& side : *item.arrivals) consider(side, true, true);
    } else {
      consider(item.send, !event_of(item.send).buffered, false);
      consider(item.recv, false, true);
    }
    return start;
  }

  /// Executes the first item of the agenda, unless it now starts later or another item precedes it.
  void carry_out_next() {
    const Item item = agenda_.top();
    agenda_.pop();
    if (!leaves_through_port(item)) {
      const Item now = timed(item);
      if (now.earliest > item.earliest) {
        agenda_.push(now);
      } else {
        carry_out(item);
      }
      return;
    }
    if (transfer_of(item.send).done) return;  // it was on the agenda twice
    Rank& rank = rank_of(item.send);
    if (next_to_leave(rank).key() == item.key()) {
      rank.outgoing.pop();
      carry_out(item);
    }
    put_next_on_agenda(item.send.rank);
  }

  void carry_out(const Item& item) {
    const Time start = earliest(item);
    if (item.arrivals != nullptr) {
      const Time end = sum(start, price_of_collective(*item.arrivals));
      for (const EventId& side : *item.arrivals) {
        rank_of(side).send_port = rank_of(side).recv_port = end;
        finish(side, start, end);
      }
      return;
    }
    const Event& send = event_of(item.send);
    const Time end = sum(start, price_of_message(item.send.rank, item.recv.rank, send));
    if (!send.buffered) {
      rank_of(item.send).send_port = end;
      finish(item.send, start, end);
    }
    rank_of(item.recv).recv_port = end;
    finish(item.recv, start, end);
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

  Time price_of_message(int from, int to, const Event& event) const {
    return tariff_.message(same_node(from, to), static_cast<double>(event.bytes));
  }

  Time price_of_collective(const Arrivals& arrived) const {
    const Event& event = event_of(arrived.front());
    bool one_node = true;
    for (const EventId& side : arrived)
      one_node = one_node && same_node(side.rank, arrived.front().rank);
    const int size = static_cast<int>(arrived.size());
    const auto bytes = static_cast<double>(event.bytes);
    return tariff_.native(
        one_node,
        cost::native_cost(event.collective, size, bytes, chooser_.link(one_node), chooser_.gamma),
        cost::native_wire(event.collective, size, bytes));
  }

  const Trace& trace_;
  const Tariff tariff_;
  const Cluster& chooser_;
  const bool contended_;
  std::vector<std::vector<Span>>* const spans_;

  std::vector<Rank> ranks_;
  std::deque<int> released_;                                      // ranks whose wait may be over
  std::map<std::tuple<int, int, int>, Mailbox> mailboxes_;        // (group, source, destination)
  std::map<std::pair<int, std::size_t>, Arrivals> arrivals_;      // (group, number)
  std::map<std::pair<int, int>, std::size_t> collectives_begun_;  // (group, rank)
  std::priority_queue<Item> agenda_;
  std::uint64_t offered_ = 0;
};

}  // namespace rankbox
