#include "sim/recorder.h"

#include <algorithm>
#include <functional>
#include <span>
#include <utility>

#include "comm/dtype.h"

namespace rankbox::sim {

void Recorder::hand_over_to(GrowingReplay& replay, int rank, std::size_t kept, std::size_t block) {
  replay_ = &replay;
  rank_ = rank;
  most_kept_ = kept;
  largest_block_ = block;
  is_timed_ = has_trace_ && kept > 0;
}

void Recorder::hand_over() {
  if (replay_ == nullptr || blocks_.empty()) return;
  EventBlock& block = blocks_.back();
  const std::span<const Event> events(block.begin(), block.end());
  // First: what fails below must not be handed over again at the end of the rank.
  block.clear();
  const std::size_t keeps = std::min(events.size(), most_kept_ - kept_.size());
  kept_.insert(kept_.end(), events.begin(), events.begin() + static_cast<std::ptrdiff_t>(keeps));
  is_timed_ = kept_.size() < most_kept_;
  replay_->append(rank_, events);
  handed_over_ += events.size();
}

void Recorder::hand_over_last() {
  hand_over();
  if (replay_ != nullptr) blocks_.clear();
}

void Recorder::make_room() {
  std::size_t wanted = blocks_.empty() ? EventBlock::kSmallest : 2 * blocks_.back().capacity();
  if (replay_ != nullptr) {
    hand_over();
    wanted = std::min(wanted, largest_block_);
    if (!blocks_.empty() && blocks_.back().capacity() == wanted) return;
    blocks_.clear();
  }
  blocks_.emplace_back(wanted);
}

void Recorder::keep_snapshot(const Event& event, Slice slice) {
  if (slice.is_null() || snapshots_.size() == kMostSnapshots) return;
  Snapshot snapshot{index_of(event), {}};
  if (replay_ != nullptr && snapshot.event >= most_kept_) return;
  with_type(slice.dtype(), [&]<class T>(T) {
    const T* data = static_cast<const T*>(slice.data());
    snapshot.values.assign(data, data + std::min<std::int64_t>(slice.size(), snapshot_elements_));
  });
  snapshots_.push_back(std::move(snapshot));
}

std::size_t Recorder::index_of(const Event& event) const {
  std::size_t before = handed_over_;
  for (const EventBlock& block : blocks_) {
    const std::less<> lower;
    if (!lower(&event, block.begin()) && lower(&event, block.end()))
      return before + static_cast<std::size_t>(&event - block.begin());
    before += block.size();
  }
  return before;
}

std::vector<Event> Recorder::take(const TickClock& clock) const {
  std::size_t count = kept_.size();
  if (replay_ == nullptr) {
    for (const EventBlock& block : blocks_) count += block.size();
  }
  std::vector<Event> events;
  events.reserve(count);
  const auto take_all = [&](std::span<const Event> recorded) {
    for (Event event : recorded) {
      event.begin_ns = clock.to_ns(event.begin_ns);
      event.end_ns = event.done ? clock.to_ns(event.end_ns) : event.begin_ns;
      events.push_back(event);
    }
  };
  take_all(kept_);
  if (replay_ == nullptr) {
    for (const EventBlock& block : blocks_) take_all({block.begin(), block.end()});
  }
  return events;
}

}  // namespace rankbox::sim
