// Which of the messages and collectives that compete for ports is executed next: the one that could
// start first. Ties go to the one that is first in its sender's program, then in its receiver's,
// then to the lower source.
//
// A message waits in its sender's queue until it is the next to leave, and then in its receiver's.
// So of all messages to one receiver only one is compared with those of other receivers, and a port
// that becomes free costs one comparison, however many messages wait for it.
//
// Cost: O(log E) a call for E events, amortized; a collective also O(p) for its p ranks. With k
// started collectives that wait for the same ports, each operation there also costs O(k).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <queue>
#include <tuple>
#include <vector>

#include "sim/clock/port_queue.h"

namespace rankbox {

/// A rank's event in a trace.
struct EventId {
  int rank = -1;
  std::size_t event = 0;
};

/// An operation that all of its ranks have reached.
struct Meeting {
  EventId send;                                    // of a collective: its lowest rank's side
  EventId recv;                                    // of a collective: equal to `send`
  const std::vector<EventId>* arrivals = nullptr;  // the sides of a collective; null: a message
};

class Agenda {
 public:
  explicit Agenda(std::size_t ranks) : ranks_(ranks) {}

  /// @param ready when both sides have reached it
  /// @param buffered whether it leaves independently of its receive
  void add_message(const Meeting& message, double ready, bool buffered);
  /// @param ready when all sides have reached it
  void add_collective(const Meeting& collective, double ready);

  /// The rank's port is busy until `free`. REQUIRES: `free` never decreases.
  void set_send_port(int rank, double free);
  void set_recv_port(int rank, double free);

  /// Removes the operation that is next into `meeting`. Returns false if none is left. REQUIRES:
  /// the caller then sets the ports that the operation occupies, before any other call.
  bool take_next(Meeting* meeting);

 private:
  // (event of the send, event of the receive, source)
  using Place = std::tuple<std::size_t, std::size_t, int>;
  /// A message in its receiver's queue.
  struct Candidate {
    Meeting meeting;
    double ready = 0;         // when it could leave
    std::uint64_t stamp = 0;  // of its sender's choice; 0: buffered
  };
  struct Waiting {
    Meeting meeting;
    double ready = 0;  // when both sides have reached it
  };
  struct Collective {
    Meeting meeting;
    double start = 0;
  };
  struct Rank {
    double send_port = 0;
    double recv_port = 0;
    PortQueue<std::size_t, Waiting> outgoing;
    PortQueue<Place, Candidate> incoming;
    // The next message of `outgoing`, which is in its receiver's `incoming`. Candidates with an
    // older stamp are void.
    std::uint64_t stamp = 0;
    std::size_t chosen = 0;                // its event
    double chosen_ready = -1;              // -1: none is chosen
    std::uint64_t published = 0;           // the only valid entry for `incoming`
    std::vector<Collective*> collectives;  // those that wait for a port of the rank
  };
  /// The best of a receiver's messages, or a collective.
  struct Entry {
    double start = 0;
    Place place;
    int receiver = -1;
    std::uint64_t number = 0;          // Rank::published
    Collective* collective = nullptr;  // null: a message

    bool operator<(const Entry& other) const {  // the queue serves the greatest first
      return std::tie(start, place, receiver) > std::tie(other.start, other.place, other.receiver);
    }
  };

  Rank& rank_of(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  void choose(int sender);
  void publish(int receiver);
  static void delay_collectives(const Rank& rank, double until);
  bool is_void(const Candidate& candidate);
  bool take_message(const Entry& entry, Meeting* meeting);
  bool take_collective(const Entry& entry, Meeting* meeting);

  std::vector<Rank> ranks_;
  std::deque<Collective> collectives_;  // a deque: entries point to them
  std::priority_queue<Entry> entries_;
};

}  // namespace rankbox
