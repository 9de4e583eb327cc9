#include "sim/wait.h"

#include "sim/collective/collective.h"
#include "sim/executor/look.h"
#include "sim/message/channel.h"
#include "sim/rank_state.h"
#include "sim/world.h"

namespace rankbox::sim {
namespace {

// Looks until the state is no longer `idle`, at most as long as the executor finds useful.
std::uint32_t look(const Operation& operation, std::uint32_t idle) {
  std::uint32_t state = idle;
  look_until(
      [&] {
        state = operation.state.load(std::memory_order_acquire);
        return state != idle;
      },
      operation.owner->patience);
  return state;
}

// Sleeps until the state is no longer kParked. (Liveness explains why the order of these steps
// proves a deadlock.)
void sleep(Operation& operation, std::uint32_t state, const Operation* other) {
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

// Moves the state on, waking the owner if it sleeps.
void advance(Operation& operation, std::uint32_t to) {
  RankState* owner =
      operation.owner;  // the operation may be gone once its owner sees the new state
  // Mostly right, and then the line moves between cores once.
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
  // A buffered isend was never posted: it is done, and nobody owns it.
  if (operation.state.load(std::memory_order_acquire) == kDone) return;
  RankState& rank = *operation.owner;
  bool has_looked = operation.watched;
  if (has_looked && operation.channel->watch(operation)) return;
  while (true) {
    std::uint32_t state =
        has_looked ? operation.state.load(std::memory_order_acquire) : look(operation, kPending);
    has_looked = false;
    if (state == kWork) {
      operation.job->help();
      // Parts that others took may still be under way: the state stays kWork until the last is
      // done.
      state = look(operation, kWork);
    }
    if (state == kDone) return;
    if (operation.kind != OperationKind::kCollective && operation.peer == rank.rank) {
      rank.waiting[0] = &operation;
      rank.waiting[1] = other;
      rank.world->stop_waiting_for_itself(rank);
    } else {
      sleep(operation, state, other);
    }
  }
}

void complete(Operation& operation) { advance(operation, kDone); }

void ask_for_help(Operation& operation) { advance(operation, kWork); }

}  // namespace rankbox::sim
