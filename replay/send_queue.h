// A rank's messages that their receivers wait for, in the order in which they leave.
//
// A sender is a queue, like a network card. When the port becomes free, the first ready message in
// program order leaves, even if its receiver is busy and a later one's is not. Sending that later
// one first would seem faster, but can slow down every rank. If all ranks send equally far ahead,
// one uneven chunk would permanently scramble the order (Graham's anomaly of list schedules: Bounds
// on Multiprocessing Timing Anomalies, 1969).
#pragma once

#include <cstddef>
#include <functional>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

namespace rankbox {

/// @tparam Message the queued type; ordered by its ready time and its place in the program
template <class Message>
class SendQueue {
 public:
  bool empty() const { return ready_.empty() && later_.empty(); }

  /// @param ready when both sides have reached it
  /// @param place unique place in the sender's program
  void add(double ready, std::size_t place, Message message) {
    later_.push({ready, place, std::move(message)});
  }

  /// Returns the message that leaves next through a port that is free from `free` on. REQUIRES:
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
