// One rank's part of the trace, written during the run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "comm/memory_meter.h"
#include "comm/memory_note.h"
#include "comm/slice.h"
#include "comm/trace.h"
#include "sim/clock/growing_replay.h"
#include "sim/event_block.h"
#include "sim/ticks.h"

namespace rankbox::sim {

/// An append-only list of events. Only its rank touches it while the world runs. It keeps all
/// events until the end of the run, or hands them over to a replay a block at a time, and keeps the
/// first.
class Recorder {
 public:
  /// @param memory the rank's; read when an event begins
  Recorder(bool enabled, const MemoryMeter& memory)
      : enabled_(enabled), has_trace_(enabled), is_timed_(enabled), memory_(memory) {}

  /// While paused, calls leave no events. Between two calls only.
  void pause(bool on) { enabled_ = has_trace_ && !on; }

  /// From now on end() keeps the first `elements` elements of its slices.
  void keep_snapshots(int elements) { snapshot_elements_ = enabled_ ? elements : 0; }

  /// From now on note() notes; what the rank does between its calls goes to the same list.
  void keep_memory_notes(MemoryMeter& memory, int most) {
    if (!enabled_) return;
    notes_memory_ = true;
    memory_notes_.reserve(static_cast<std::size_t>(most));
    memory.notes = &memory_notes_;
  }

  /// From now on hands events over to `replay`, and keeps the first `kept` events of the rank.
  /// @param block hand over at least every so many events
  void hand_over_to(GrowingReplay& replay, int rank, std::size_t kept, std::size_t block);

  /// Hands over what is left, and frees the memory. Call after the rank's last event.
  void hand_over_last();

  /// Returns the time stamp to begin an event with; 0 if no one will see it, because recording is
  /// off or the event is not kept. A stamp takes some 10 ns, and a short message needs four.
  std::int64_t now() const { return is_timed_ ? ticks_now() : 0; }

  /// Reserves space for the events of one call, so that begin() cannot fail between posting an
  /// operation and waiting for it.
  void reserve() {
    if (!enabled_ || (!blocks_.empty() && blocks_.back().room() >= kMostEventsOfACall)) return;
    make_room();
  }

  /// Returns a new event for the caller to fill in. REQUIRES: reserve() was called. Valid until the
  /// next call's reserve(). When recording is off, all callers share one event that is never read.
  Event& begin(EventKind kind, Place place, std::int64_t begin_ticks) {
    Event& event = enabled_ ? blocks_.back().append() : (ignored_ = Event{});
    event.kind = kind;
    event.place = place;
    event.begin_ns = begin_ticks;
    event.memory = static_cast<float>(memory_.current_bytes);
    return event;
  }
  Event& begin(EventKind kind, Place place) { return begin(kind, place, now()); }

  /// Notes that the event, which just began, writes and reads these slices.
  void note(const Event& event, Slice into, Slice from) {
    if (notes_memory_ && enabled_) [[unlikely]]
      note_memory(memory_note(MemoryNote::Kind::kEvent, into, from, index_of(event)));
  }

  void end(Event& event) const {
    event.done = true;
    event.end_ns = now();
  }

  /// As end, for an event about `slice`, which is no longer written to.
  void end(Event& event, Slice slice) {
    end(event);
    if (snapshot_elements_ > 0 && enabled_) [[unlikely]]
      keep_snapshot(event, slice);
  }

  std::vector<Snapshot> take_snapshots() { return std::move(snapshots_); }
  std::vector<MemoryNote> take_memory_notes() { return std::move(memory_notes_); }
  bool may_lack_memory_notes() const { return memory_notes_.size() == memory_notes_.capacity(); }

  /// Returns the number of events that were handed over and not kept.
  std::int64_t left_out() const { return static_cast<std::int64_t>(handed_over_ - kept_.size()); }

  /// Calls fn(event) for each of the rank's events, in order; for none if some were handed over and
  /// not kept. Call while the rank makes no calls.
  template <class Fn>
  void for_each(Fn fn) const {
    if (left_out() > 0) return;
    for (const Event& event : kept_) fn(event);
    for (const EventBlock& block : blocks_) {
      for (const Event& event : block) fn(event);
    }
  }

  /// Returns the kept events in order, with ticks converted to nanoseconds.
  std::vector<Event> take(const TickClock& clock) const;

 private:
  static constexpr std::size_t kMostEventsOfACall = 2;  // sendrecv
  static constexpr std::size_t kMostSnapshots = 10'000;

  void make_room();
  void hand_over();
  void keep_snapshot(const Event& event, Slice slice);
  std::size_t index_of(const Event& event) const;

  bool enabled_;
  const bool has_trace_;
  bool is_timed_;  // the events of the current block may be kept
  const MemoryMeter& memory_;
  int snapshot_elements_ = 0;
  bool notes_memory_ = false;
  std::vector<EventBlock> blocks_;  // one, where events are handed over

  GrowingReplay* replay_ = nullptr;  // null: all events are kept, in blocks_
  int rank_ = -1;
  std::size_t most_kept_ = 0;
  std::size_t largest_block_ = 0;
  std::size_t handed_over_ = 0;
  std::vector<Event> kept_;

  std::vector<Snapshot> snapshots_;
  std::vector<MemoryNote> memory_notes_;
  Event ignored_;
};

}  // namespace rankbox::sim
