#include "sim/collective/short_collective.h"

#include <algorithm>
#include <array>

#include "sim/collective/reduce_kernels.h"
#include "sim/executor/spin.h"
#include "sim/message/copy_bytes.h"
#include "sim/world.h"

namespace rankbox::sim {
namespace {

// One poll in kPollsOfOne inspects all ranks; the others inspect one missing rank.
constexpr int kPollsOfOne = 16;

bool fits(const CollectiveCall& call, const World& world) {
  // The host cannot read a data plane's data.
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
      waiters_(members.size() <= kMostRanks ? members.size() : 0),
      closed_(closed) {}

ShortCollectives::Signature ShortCollectives::signature_of(const CollectiveCall& call) {
  return {call.kind, call.op, call.dtype, static_cast<std::uint8_t>(call.count), call.root};
}

/// Returns whether this rank still publishes its calls.
bool ShortCollectives::is_possible(int index) const {
  if (slots_.empty()) return false;
  const Waiter& waiter = waiters_[static_cast<std::size_t>(index)];
  return waiter.long_from.load(std::memory_order_relaxed) ==
         std::numeric_limits<std::uint64_t>::max();
}

ShortCollectives::Slot& ShortCollectives::slot(int index, std::uint64_t number) {
  return slots_[2 * static_cast<std::size_t>(index) + number % 2];
}

const ShortCollectives::Slot& ShortCollectives::slot(int index, std::uint64_t number) const {
  return slots_[2 * static_cast<std::size_t>(index) + number % 2];
}

/// Returns the number of the call that rank `index`, the caller, published last.
std::uint64_t ShortCollectives::last_call(int index) const {
  return std::max(slot(index, 0).published.load(std::memory_order_relaxed),
                  slot(index, 1).published.load(std::memory_order_relaxed)) /
         2;
}

void ShortCollectives::publish(int index, const CollectiveCall& call) {
  // After the world has stopped, ranks continue without having seen the others.
  if (!is_possible(index) || world_.is_stopped()) return;
  const std::uint64_t number = last_call(index) + 1;
  const bool is_short = fits(call, world_);
  Slot& mine = slot(index, number);
  if (is_short) {
    mine.signature = signature_of(call);
    copy_bytes(mine.data, call.in.data(), call.in.bytes());
  }
  mine.published.exchange(2 * number + (is_short ? 0 : 1));
  if (!is_short) wake_parked();
}

void ShortCollectives::publish_async(int index) {
  if (!is_possible(index)) return;
  waiters_[static_cast<std::size_t>(index)].long_from.store(last_call(index) + 1);
  wake_parked();
}

inline ShortCollectives::Seen ShortCollectives::inspect(int index, std::uint64_t number,
                                                        const Signature& mine) const {
  const Slot& theirs = slot(index, number);
  const std::uint64_t published = theirs.published.load();
  if (published == 2 * number) return theirs.signature == mine ? Seen::kSame : Seen::kLong;
  if (published == 2 * number + 1) return Seen::kLong;
  const bool is_async = waiters_[static_cast<std::size_t>(index)].long_from.load() <= number;
  return is_async ? Seen::kLong : Seen::kMissing;
}

ShortCollectives::End ShortCollectives::finish(int index, const CollectiveCall& call,
                                               const Operation& waiting) {
  if (!is_possible(index) || !fits(call, world_)) return End::kLong;
  if (world_.is_stopped()) return End::kStopped;  // and the call may not have been published
  const std::uint64_t number = last_call(index);
  const Signature mine = signature_of(call);
  End end = End::kStopped;
  // Ranks from `missing` on have made the same call, which cannot change. The last rank is
  // inspected first. Ranks that take turns on a core usually call in order, so the lines before it
  // are complete when they are fetched.
  int missing = size();
  const auto is_over = [&] {
    for (; missing > 0; --missing) {
      const Seen next = inspect(missing - 1, number, mine);
      if (next == Seen::kMissing) return false;
      if (next == Seen::kLong) {
        end = End::kLong;
        return true;
      }
    }
    end = End::kDone;
    return true;
  };
  // A call that is not short also ends the wait, while ranks after it are missing. That is rare, so
  // most polls inspect one missing rank: each inspection fetches a cache line.
  const auto is_over_anywhere = [&] {
    if (is_over()) return true;
    for (int other = 0; other < missing - 1; ++other) {
      if (inspect(other, number, mine) != Seen::kLong) continue;
      end = End::kLong;
      return true;
    }
    return false;
  };
  int polls = 0;
  const auto poll = [&] { return ++polls % kPollsOfOne == 0 ? is_over_anywhere() : is_over(); };
  while (!spin_until(poll, waiting.owner->spin_limit) && !is_over_anywhere()) {
    if (closed_.load()) break;
    park(index, waiting, is_over_anywhere);
  }
  // Ranks may have parked before the last rank called. The last one sees that all have called, and
  // does not park.
  wake_parked();
  if (end == End::kDone) compute(index, number, call);
  return end;
}

/// Parks until woken, unless the wait is over. As in the protocol of Liveness, the waking rank
/// un-counts the parked one. Several ranks may try; one of them moves the state from kParked.
template <class IsOver>
void ShortCollectives::park(int index, const Operation& waiting, IsOver is_over) {
  Waiter& waiter = waiters_[static_cast<std::size_t>(index)];
  RankState& rank = *waiting.owner;
  rank.waiting[0] = &waiting;
  rank.waiting[1] = nullptr;
  waiter.state.store(kParked);
  parked_.fetch_add(1);
  // A rank publishes first and then reads parked_. A parking rank must therefore count itself first
  // and then read what was published.
  std::uint32_t parked = kParked;
  const bool stays_awake =
      (is_over() || closed_.load()) && waiter.state.compare_exchange_strong(parked, kAwake);
  if (!stays_awake) {
    if (world_.liveness().block()) world_.stop_deadlocked();
    while (waiter.state.load() != kAwake) world_.executor().park(rank.rank);
  }
  parked_.fetch_sub(1);
}

void ShortCollectives::wake_parked() {
  if (parked_.load() == 0) return;
  for (std::size_t index = 0; index < waiters_.size(); ++index) {
    std::uint32_t parked = kParked;
    std::atomic<std::uint32_t>& state = waiters_[index].state;
    if (!state.compare_exchange_strong(parked, kWaking)) continue;
    world_.liveness().unblock();
    state.store(kAwake);
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
    if (inspect(other, number, {}) == Seen::kMissing) awaited.push_back(other);
  }
  return awaited;
}

void ShortCollectives::close() {
  closed_.store(true);
  wake_parked();
}

}  // namespace rankbox::sim
