// One rank's part of the trace, written during the run.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "comm/dtype.h"
#include "comm/memory_meter.h"
#include "comm/slice.h"
#include "comm/trace.h"
#include "sim/event_block.h"
#include "sim/ticks.h"

namespace rankbox::sim {

/// An append-only list of events with stable addresses. Only its rank touches it while the world
/// runs.
class Recorder {
 public:
  /// @param memory the rank's; read when an event begins
  Recorder(bool enabled, const MemoryMeter& memory) : enabled_(enabled), memory_(memory) {}

  /// From now on end() keeps the first `elements` elements of its slices.
  void keep_snapshots(int elements) { snapshot_elements_ = enabled_ ? elements : 0; }

  /// Returns the time stamp to begin an event with; 0 when recording is off.
  std::int64_t now() const { return enabled_ ? ticks_now() : 0; }

  /// Reserves space for the events of one call, so that begin() cannot fail between posting an
  /// operation and waiting for it.
  void reserve() {
    if (!enabled_ || (!blocks_.empty() && blocks_.back().room() >= kMostEventsOfACall)) return;
    const std::size_t wanted =
        blocks_.empty() ? EventBlock::kSmallest : 2 * blocks_.back().capacity();
    blocks_.emplace_back(wanted);
  }

  /// Returns a new event for the caller to fill in. REQUIRES: reserve() was called. Valid until the
  /// recorder is destroyed. When recording is off, all callers share one event that is never read.
  Event& begin(EventKind kind, Place place, std::int64_t begin_ticks) {
    Event& event = enabled_ ? blocks_.back().append() : (ignored_ = Event{});
    event.kind = kind;
    event.place = place;
    event.begin_ns = begin_ticks;
    event.memory = static_cast<float>(memory_.current_bytes);
    return event;
  }
  Event& begin(EventKind kind, Place place) { return begin(kind, place, now()); }

  void end(Event& event) const {
    event.done = true;
    event.end_ns = now();
  }

  /// As end, for an event about `slice`, which is no longer written to.
  void end(Event& event, Slice slice) {
    end(event);
    if (snapshot_elements_ > 0) [[unlikely]]
      keep_snapshot(event, slice);
  }

  std::vector<Snapshot> take_snapshots() { return std::move(snapshots_); }

  /// Returns all events in order, with ticks converted to nanoseconds.
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
  static constexpr std::size_t kMostSnapshots = 10'000;

  void keep_snapshot(const Event& event, Slice slice) {
    if (slice.is_null() || snapshots_.size() == kMostSnapshots) return;
    Snapshot snapshot{index_of(event), {}};
    with_type(slice.dtype(), [&]<class T>(T) {
      const T* data = static_cast<const T*>(slice.data());
      snapshot.values.assign(data, data + std::min<std::int64_t>(slice.size(), snapshot_elements_));
    });
    snapshots_.push_back(std::move(snapshot));
  }

  std::size_t index_of(const Event& event) const {
    std::size_t before = 0;
    for (const EventBlock& block : blocks_) {
      const std::less<> lower;
      if (!lower(&event, block.begin()) && lower(&event, block.end()))
        return before + static_cast<std::size_t>(&event - block.begin());
      before += block.size();
    }
    return before;
  }

  bool enabled_;
  const MemoryMeter& memory_;
  int snapshot_elements_ = 0;
  std::vector<EventBlock> blocks_;
  std::vector<Snapshot> snapshots_;
  Event ignored_;
};

}  // namespace rankbox::sim
