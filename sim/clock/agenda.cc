#include "sim/clock/agenda.h"

#include <algorithm>

namespace rankbox {

void Agenda::add_message(const Meeting& message, double ready, bool buffered) {
  if (buffered) {
    rank_of(message.recv.rank)
        .incoming.add(ready, {message.send.event, message.recv.event, message.send.rank},
                      {message, ready});
    publish(message.recv.rank);
    return;
  }
  rank_of(message.send.rank).outgoing.add(ready, message.send.event, {message, ready});
  choose(message.send.rank);
}

void Agenda::add_collective(const Meeting& collective, double ready) {
  Collective& added = collectives_.emplace_back();
  added = {collective, ready};
  for (const EventId& side : *collective.arrivals) {
    Rank& rank = rank_of(side.rank);
    rank.collectives.push_back(&added);
    added.start = std::max({added.start, rank.send_port, rank.recv_port});
  }
  const EventId first = collective.send;
  entries_.push({.start = added.start,
                 .place = {first.event, first.event, first.rank},
                 .receiver = first.rank,
                 .collective = &added});
}

void Agenda::set_send_port(int rank, double free) {
  rank_of(rank).send_port = free;
  delay_collectives(rank_of(rank), free);
  choose(rank);
}

void Agenda::set_recv_port(int rank, double free) {
  rank_of(rank).recv_port = free;
  delay_collectives(rank_of(rank), free);
  publish(rank);
}

bool Agenda::take_next(Meeting* meeting) {
  while (!entries_.empty()) {
    const Entry entry = entries_.top();
    entries_.pop();
    if (entry.collective != nullptr ? take_collective(entry, meeting)
                                    : take_message(entry, meeting)) {
      return true;
    }
  }
  return false;
}

/// Puts the sender's next message into its receiver's queue, unless it is there.
void Agenda::choose(int sender) {
  Rank& rank = rank_of(sender);
  if (rank.outgoing.empty()) return;
  const Waiting& next = rank.outgoing.next(rank.send_port);
  const EventId send = next.meeting.send;
  const EventId recv = next.meeting.recv;
  const double ready = std::max(next.ready, rank.send_port);
  if (rank.chosen == send.event && rank.chosen_ready == ready) return;
  rank.chosen = send.event;
  rank.chosen_ready = ready;
  rank_of(recv.rank).incoming.add(ready, {send.event, recv.event, send.rank},
                                  {next.meeting, ready, ++rank.stamp});
  publish(recv.rank);
}

void Agenda::delay_collectives(const Rank& rank, double until) {
  for (Collective* const each : rank.collectives) each->start = std::max(each->start, until);
}

bool Agenda::is_void(const Candidate& candidate) {
  return candidate.stamp != 0 && candidate.stamp != rank_of(candidate.meeting.send.rank).stamp;
}

/// Enters the best of the receiver's messages, in place of the entry before.
void Agenda::publish(int receiver) {
  Rank& rank = rank_of(receiver);
  ++rank.published;
  while (!rank.incoming.empty()) {
    const Candidate& best = rank.incoming.next(rank.recv_port);
    if (!is_void(best)) {
      const Meeting& message = best.meeting;
      entries_.push({.start = std::max(best.ready, rank.recv_port),
                     .place = {message.send.event, message.recv.event, message.send.rank},
                     .receiver = receiver,
                     .number = rank.published});
      return;
    }
    rank.incoming.pop();
  }
}

bool Agenda::take_message(const Entry& entry, Meeting* meeting) {
  Rank& receiver = rank_of(entry.receiver);
  if (entry.number != receiver.published) return false;
  const Candidate best = receiver.incoming.next(receiver.recv_port);
  if (is_void(best)) {
    publish(entry.receiver);
    return false;
  }
  receiver.incoming.pop();
  if (best.stamp != 0) {
    Rank& sender = rank_of(best.meeting.send.rank);
    sender.outgoing.pop();
    sender.chosen_ready = -1;
  }
  *meeting = best.meeting;
  return true;
}

bool Agenda::take_collective(const Entry& entry, Meeting* meeting) {
  if (entry.collective->start > entry.start) {  // a port of one of its ranks was busy longer
    Entry later = entry;
    later.start = entry.collective->start;
    entries_.push(later);
    return false;
  }
  *meeting = entry.collective->meeting;
  for (const EventId& side : *meeting->arrivals)
    std::erase(rank_of(side.rank).collectives, entry.collective);
  return true;
}

}  // namespace rankbox
