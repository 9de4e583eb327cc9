#include "sim/collective/short_collective.h"

#include <algorithm>
#include <array>

#include "sim/collective/reduce_kernels.h"
#include "sim/executor/look.h"
#include "sim/message/copy_bytes.h"
#include "sim/world.h"

namespace rankbox::sim {
namespace {

// Of so many looks, one is at all ranks, and the others at one that is missing.
constexpr int kLooksAtOne = 16;

bool fits(const CollectiveCall& call, const World& world) {
  // A data plane's data is out of reach.
  if (world.data_plane() != nullptr && moves_data(call.kind)) return false;
  switch (call.kind) {
    case CollectiveKind::kBarrier:
    case CollectiveKind::kBroadcast:
    case CollectiveKind::kReduce:
    case CollectiveKind::kAllReduce:
      return call.in.bytes() <= ShortCollectives::kMostBytes;
    default:
      return false;
  }
}

}  // namespace

ShortCollectives::ShortCollectives(World& world, const std::vector<int>& members, bool closed)
    : world_(world),
      members_(members),
      slots_(members.size() <= kMostRanks ? 2 * members.size() : 0),
      seats_(members.size() <= kMostRanks ? members.size() : 0),
      closed_(closed) {}

ShortCollectives::Signature ShortCollectives::signature_of(const CollectiveCall& call) {
  return {call.kind, call.op, call.dtype, static_cast<std::uint8_t>(call.count), call.root};
}

/// Whether this rank still publishes its calls.
bool ShortCollectives::is_possible(int index) const {
  if (slots_.empty()) return false;
  const Seat& seat = seats_[static_cast<std::size_t>(index)];
  return seat.long_from.load(std::memory_order_relaxed) ==
         std::numeric_limits<std::uint64_t>::max();
}

ShortCollectives::Slot& ShortCollectives::slot(int index, std::uint64_t number) {
  return slots_[2 * static_cast<std::size_t>(index) + number % 2];
}

const ShortCollectives::Slot& ShortCollectives::slot(int index, std::uint64_t number) const {
  return slots_[2 * static_cast<std::size_t>(index) + number % 2];
}

/// The number of the call that rank `index`, which asks, has published last.
std::uint64_t ShortCollectives::last_call(int index) const {
  return std::max(slot(index, 0).published.load(std::memory_order_relaxed),
                  slot(index, 1).published.load(std::memory_order_relaxed)) /
         2;
}

void ShortCollectives::publish(int index, const CollectiveCall& call) {
  // After the world has stopped, ranks go on without having seen the others.
  if (!is_possible(index) || world_.is_stopped()) return;
  const std::uint64_t number = last_call(index) + 1;
  const bool is_short = fits(call, world_);
  Slot& mine = slot(index, number);
  if (is_short) {
    mine.signature = signature_of(call);
    copy_bytes(mine.data, call.in.data(), call.in.bytes());
  }
  mine.published.exchange(2 * number + (is_short ? 0 : 1));
  if (!is_short) wake_sleepers();
}

void ShortCollectives::publish_async(int index) {
  if (!is_possible(index)) return;
  seats_[static_cast<std::size_t>(index)].long_from.store(last_call(index) + 1);
  wake_sleepers();
}

inline ShortCollectives::Seen ShortCollectives::look_at(int index, std::uint64_t number,
                                                        const Signature& mine) const {
  const Slot& theirs = slot(index, number);
  const std::uint64_t published = theirs.published.load();
  if (published == 2 * number) return theirs.signature == mine ? Seen::kSame : Seen::kLong;
  if (published == 2 * number + 1) return Seen::kLong;
  const bool is_async = seats_[static_cast<std::size_t>(index)].long_from.load() <= number;
  return is_async ? Seen::kLong : Seen::kMissing;
}

ShortCollectives::End ShortCollectives::finish(int index, const CollectiveCall& call,
                                               const Operation& waiting) {
  if (!is_possible(index) || !fits(call, world_)) return End::kLong;
  if (world_.is_stopped()) return End::kStopped;  // and the call may not have been published
  const std::uint64_t number = last_call(index);
  const Signature mine = signature_of(call);
  End end = End::kStopped;
  // Those from here on have made the same call, and stay seen. Last ranks first: where ranks take
  // turns on a core they mostly come in order, and then the lines of those before the last are here
  // at once, and have not been fetched in vain while they were written.
  int missing = size();
  const auto is_over = [&] {
    for (; missing > 0; --missing) {
      const Seen next = look_at(missing - 1, number, mine);
      if (next == Seen::kMissing) return false;
      if (next == Seen::kLong) {
        end = End::kLong;
        return true;
      }
    }
    end = End::kDone;
    return true;
  };
  // A call that is not short ends the wait, too, while ranks after it are missing. That is rare:
  // most looks are at one that is missing, since each is a cache line.
  const auto is_over_anywhere = [&] {
    if (is_over()) return true;
    for (int other = 0; other < missing - 1; ++other) {
      if (look_at(other, number, mine) != Seen::kLong) continue;
      end = End::kLong;
      return true;
    }
    return false;
  };
  int looks = 0;
  const auto look = [&] { return ++looks % kLooksAtOne == 0 ? is_over_anywhere() : is_over(); };
  while (!look_until(look, waiting.owner->patience) && !is_over_anywhere()) {
    if (closed_.load()) break;
    sleep(index, waiting, is_over_anywhere);
  }
  // Those that went to sleep before the last rank called. Whoever calls last sees that all have,
  // and does not sleep.
  wake_sleepers();
  if (end == End::kDone) compute(index, number, call);
  return end;
}

/// Sleeps until woken, unless it is over. As in the protocol of Liveness, a sleeper is un-counted
/// by whoever wakes it; here several may want to, and one of them moves the bed from kAsleep.
template <class IsOver>
void ShortCollectives::sleep(int index, const Operation& waiting, IsOver is_over) {
  Seat& seat = seats_[static_cast<std::size_t>(index)];
  RankState& rank = *waiting.owner;
  rank.waiting[0] = &waiting;
  rank.waiting[1] = nullptr;
  seat.bed.store(kAsleep);
  sleepers_.fetch_add(1);
  // Who publishes looks for sleepers after that; so who becomes one has to look for what was
  // published after that.
  std::uint32_t asleep = kAsleep;
  const bool stays_awake =
      (is_over() || closed_.load()) && seat.bed.compare_exchange_strong(asleep, kAwake);
  if (!stays_awake) {
    if (world_.liveness().block()) world_.stop_deadlocked();
    while (seat.bed.load() != kAwake) world_.executor().park(rank.rank);
  }
  sleepers_.fetch_sub(1);
}

void ShortCollectives::wake_sleepers() {
  if (sleepers_.load() == 0) return;
  for (std::size_t index = 0; index < seats_.size(); ++index) {
    std::uint32_t asleep = kAsleep;
    std::atomic<std::uint32_t>& bed = seats_[index].bed;
    if (!bed.compare_exchange_strong(asleep, kWaking)) continue;
    world_.liveness().unblock();
    bed.store(kAwake);
    world_.executor().unpark(members_[index]);
  }
}

void ShortCollectives::compute(int index, std::uint64_t number, const CollectiveCall& call) {
  const bool has_result = call.kind == CollectiveKind::kAllReduce ||
                          (call.kind == CollectiveKind::kReduce && index == call.root);
  if (has_result) {
    std::array<const void*, kMostRanks> inputs;
    for (std::size_t other = 0; other < members_.size(); ++other)
      inputs[other] = slots_[2 * other + number % 2].data;
    void* const result = call.out.data();
    reduce_to_all(inputs.data(), size(), &result, 1, call.count, call.dtype, call.op);
  } else if (call.kind == CollectiveKind::kBroadcast && index != call.root) {
    copy_bytes(call.out.data(), slot(call.root, number).data, call.out.bytes());
  }
}

std::vector<int> ShortCollectives::awaited_by(int index) const {
  const std::uint64_t number = last_call(index);
  std::vector<int> awaited;
  for (int other = 0; other < size(); ++other) {
    if (look_at(other, number, {}) == Seen::kMissing) awaited.push_back(other);
  }
  return awaited;
}

void ShortCollectives::close() {
  closed_.store(true);
  wake_sleepers();
}

}  // namespace rankbox::sim
