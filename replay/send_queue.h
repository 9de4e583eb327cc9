// The messages that one rank has to send and their receivers wait for, in the order in which they
// leave.
//
// A sender is a queue, like a network card: of the messages that are ready when the port becomes
// free, the first in program order leaves first, even when its receiver is busy and a later one's
// is not. Sending that later one would seem faster, but can make every rank slower: in a schedule
// in which all ranks send equally far ahead, one uneven chunk would scramble the order for good
// (Graham's anomaly of list schedules: Bounds on Multiprocessing Timing Anomalies, 1969).
#pragma once

#include <cstddef>
#include <functional>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

namespace rankbox {

/// @tparam Message what is queued; ordered by the time it is ready and its place in the program
template <class Message>
class SendQueue {
 public:
  bool empty() const { return ready_.empty() && later_.empty(); }

  /// @param ready when both sides have reached it
  /// @param place its place in the sender's program; no two are the same
  void add(double ready, std::size_t place, Message message) {
    later_.push({ready, place, std::move(message)});
  }

  /// The message that leaves next through a port that is free from `free` on. REQUIRES: `free`
  /// never decreases; the queue is not empty.
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
    std::size_t place = 0;
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
