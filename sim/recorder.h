// One rank's part of the trace, written as the rank goes.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "comm/trace.h"
#include "sim/ticks.h"

namespace rankbox::sim {

/// An append-only list of events whose addresses stay valid. Only its rank touches it while the world runs.
class Recorder {
 public:
  explicit Recorder(bool enabled) : enabled_(enabled) {}

  /// A new event, begun now, to be filled in by the caller. Valid until the recorder dies; when recording is
  /// off, all callers share one event that nobody reads.
  Event& begin(EventKind kind, Place place) {
    Event& event = slot();
    event.kind = kind;
    event.place = place;
    if (enabled_) event.begin_ns = ticks_now();
    return event;
  }
  void end(Event& event) {
    event.done = true;
    if (enabled_) event.end_ns = ticks_now();
  }

  /// All events in order, with ticks turned into nanoseconds.
  std::vector<Event> take(const TickClock& clock) const {
    std::vector<Event> events;
    events.reserve(blocks_.empty() ? 0 : (blocks_.size() - 1) * kBlock + used_);
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      const std::size_t count = b + 1 == blocks_.size() ? used_ : kBlock;
      for (std::size_t i = 0; i < count; ++i) {
        Event event = blocks_[b][i];
        event.begin_ns = clock.to_ns(event.begin_ns);
        event.end_ns = event.done ? clock.to_ns(event.end_ns) : event.begin_ns;
        events.push_back(event);
      }
    }
    return events;
  }

 private:
  static constexpr std::size_t kBlock = 256;  // events: 18 KiB

  Event& slot() {
    if (!enabled_) return ignored_ = Event{};
    if (used_ == kBlock || blocks_.empty()) {
      blocks_.push_back(std::make_unique<Event[]>(kBlock));
      used_ = 0;
    }
    return blocks_.back()[used_++];
  }

  bool enabled_;
  std::vector<std::unique_ptr<Event[]>> blocks_;
  std::size_t used_ = 0;  // in the last block
  Event ignored_;
};

}  // namespace rankbox::sim
