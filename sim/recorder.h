// One rank's part of the trace, written as the rank goes.
#pragma once

#include <cstddef>
#include <vector>

#include "comm/trace.h"
#include "sim/event_block.h"
#include "sim/ticks.h"

namespace rankbox::sim {

/// An append-only list of events whose addresses stay valid. Only its rank touches it while the
/// world runs.
class Recorder {
 public:
  explicit Recorder(bool enabled) : enabled_(enabled) {}

  /// The time stamp to begin an event with; 0 when recording is off.
  std::int64_t now() const { return enabled_ ? ticks_now() : 0; }

  /// Makes room for the events of one call, so that begin() cannot fail between posting an operation
  /// and waiting for it.
  void reserve() {
    if (!enabled_ || (!blocks_.empty() && blocks_.back().room() >= kMostEventsOfACall)) return;
    const std::size_t wanted =
        blocks_.empty() ? EventBlock::kSmallest : 2 * blocks_.back().capacity();
    blocks_.emplace_back(wanted);
  }

  /// A new event, to be filled in by the caller, who has called reserve(). Valid until the recorder dies; when recording is
  /// off, all callers share one event that nobody reads.
  Event& begin(EventKind kind, Place place, std::int64_t begin_ticks) {
    Event& event = enabled_ ? blocks_.back().append() : (ignored_ = Event{});
    event.kind = kind;
    event.place = place;
    event.begin_ns = begin_ticks;
    return event;
  }
  Event& begin(EventKind kind, Place place) { return begin(kind, place, now()); }

  void end(Event& event) const {
    event.done = true;
    event.end_ns = now();
  }

  /// All events in order, with ticks turned into nanoseconds.
  std::vector<Event> take(const TickClock& clock) const {
    std::size_t count = 0;
    for (const EventBlock& block : blocks_) count += block.size();
    std::vector<Event> events;
    events.reserve(count);
    for (const EventBlock& block : blocks_) {
      for (Event event : block) {
        event.begin_ns = clock.to_ns(event.begin_ns);
        event.end_ns = event.done ? clock.to_ns(event.end_ns) : event.begin_ns;
        events.push_back(event);
      }
    }
    return events;
  }

 private:
  static constexpr std::size_t kMostEventsOfACall = 2;  // sendrecv

  bool enabled_;
  std::vector<EventBlock> blocks_;
  Event ignored_;
};

}  // namespace rankbox::sim
