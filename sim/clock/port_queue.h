// The messages that wait for one port, in the order in which it takes them.
//
// When the port becomes free, the first message that is ready takes it, in the order of `Place`.
// For a sender that is the program's order, as in a network card. A later message does not overtake
// one whose receiver is busy. Overtaking would seem faster, but can slow down every rank. If all
// ranks send equally far ahead, one uneven chunk would permanently scramble the order (Graham's
// anomaly of list schedules: Bounds on Multiprocessing Timing Anomalies, 1969).
//
// Two figures decide between the rules. An all-to-all on 8 ranks whose chunk for rank 0 is a
// quarter longer takes 8.75 messages' time in order; with overtaking, 10.25 (on 32 ranks 38.75 and
// 45.75). A halo exchange by isend and irecv on a torus of 16 ranks takes 4 in order, whatever
// order of directions all ranks share. It takes 5 to 8 where ranks start with different directions,
// or have open edges: several ranks send to one receiver, and their later messages wait. With
// overtaking it would still be 5 or 6. By sendrecv, direction by direction, it is 4: a program that
// decides who sends to whom in each step pays for no queue. (tests/sim/halo_test.cc)
//
// Cost: O(log n) for n waiting messages.
#pragma once

#include <queue>
#include <tuple>
#include <utility>
#include <vector>

namespace rankbox {

/// @tparam Place breaks ties; ordered by <, unique among waiting messages
template <class Place, class Message>
class PortQueue {
 public:
  bool empty() const { return ready_.empty() && later_.empty(); }

  /// @param ready when the message could take the port
  void add(double ready, Place place, Message message) {
    later_.push({ready, std::move(place), std::move(message)});
  }

  /// Returns the message that is next to take the port, which is free from `free` on. REQUIRES:
  /// `free` never decreases; the queue is not empty.
  const Message& next(double free) {
    while (!later_.empty() && later_.top().ready <= free) {
      ready_.push(later_.top());
      later_.pop();
    }
    return ready_.empty() ? later_.top().message : ready_.top().message;
  }

  /// Removes the message that next() returned.
  void pop() {
    if (ready_.empty()) {
      later_.pop();
    } else {
      ready_.pop();
    }
  }

 private:
  struct Entry {
    double ready = 0;
    Place place;
    Message message;
  };
  struct LaterPlace {
    bool operator()(const Entry& a, const Entry& b) const { return a.place > b.place; }
  };
  struct LaterReady {
    bool operator()(const Entry& a, const Entry& b) const {
      return std::tie(a.ready, a.place) > std::tie(b.ready, b.place);
    }
  };
  std::priority_queue<Entry, std::vector<Entry>, LaterPlace> ready_;
  std::priority_queue<Entry, std::vector<Entry>, LaterReady> later_;
};

}  // namespace rankbox
