#include "sim/wait.h"

#include "sim/collective/collective.h"
#include "sim/executor/spin.h"
#include "sim/message/channel.h"
#include "sim/rank_state.h"
#include "sim/world.h"

namespace rankbox::sim {
namespace {

// Spins until the state is no longer `idle`, or the executor's spin limit is reached.
std::uint32_t spin(const Operation& operation, std::uint32_t idle) {
  std::uint32_t state = idle;
  spin_until(
      [&] {
        state = operation.state.load(std::memory_order_acquire);
        return state != idle;
      },
      operation.owner->spin_limit);
  return state;
}

// Parks until the state is no longer kParked. Liveness explains why the order of these steps proves
// a deadlock.
void park(Operation& operation, std::uint32_t state, const Operation* other) {
  RankState& rank = *operation.owner;
  World& world = *rank.world;
  rank.waiting[0] = &operation;
  rank.waiting[1] = other;
  if (operation.state.compare_exchange_strong(state, kParked, std::memory_order_acq_rel)) {
    if (world.liveness().block()) world.stop_deadlocked();
    while (operation.state.load(std::memory_order_acquire) == kParked)
      world.executor().park(rank.rank);
  }
}

// Advances the state and wakes the owner if it is parked.
void advance(Operation& operation, std::uint32_t to) {
  RankState* owner =
      operation.owner;  // the operation may be destroyed once its owner sees the new state
  // The usual state: if this first guess is right, the line moves between cores only once.
  std::uint32_t state = kPending;
  while (state != kParked) {
    if (operation.state.compare_exchange_weak(state, to, std::memory_order_acq_rel)) return;
  }
  World& world = *owner->world;
  world.liveness().unblock();
  operation.state.store(to, std::memory_order_release);
  world.executor().unpark(owner->rank);
}

}  // namespace

void wait_until_done(Operation& operation, const Operation* other) {
  // A buffered isend was never posted: it is done, and no rank owns it.
  if (operation.state.load(std::memory_order_acquire) == kDone) return;
  RankState& rank = *operation.owner;
  bool has_spun = operation.watched;
  if (has_spun && operation.channel->watch(operation)) return;
  while (true) {
    std::uint32_t state =
        has_spun ? operation.state.load(std::memory_order_acquire) : spin(operation, kPending);
    has_spun = false;
    if (state == kWork) {
      operation.job->help();
      // Other ranks may still work on parts: the state stays kWork until the last one is done.
      state = spin(operation, kWork);
    }
    if (state == kDone) return;
    if (operation.kind != OperationKind::kCollective && operation.peer == rank.rank) {
      rank.waiting[0] = &operation;
      rank.waiting[1] = other;
      rank.world->stop_waiting_for_itself(rank);
    } else {
      park(operation, state, other);
    }
  }
}

void complete(Operation& operation) { advance(operation, kDone); }

void ask_for_help(Operation& operation) { advance(operation, kWork); }

}  // namespace rankbox::sim
