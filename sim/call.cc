#include "sim/call.h"

#include <chrono>
#include <thread>

#include "comm/fault.h"
#include "sim/world.h"

namespace rankbox::sim {
namespace {

void pause_at_random(RankState& rank) {
  // Mostly nothing, often a chance for others to run, sometimes a sleep long enough for them to
  // park.
  const auto dice = rank.shaker() % 64;
  if (dice == 0) {
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  } else if (dice < 16) {
    std::this_thread::yield();
  }
}

}  // namespace

void begin_call(const Caller& caller, RankState& rank) {
  check_member(caller);
  const RunOptions& options = rank.world->options();
  if (!options.faults.empty()) [[unlikely]] {
    let_faults_happen(options.faults, caller, rank.operations);
  }
  if (options.seed != 0) [[unlikely]] {
    pause_at_random(rank);
  }
  ++rank.operations;
  rank.recorder.reserve();
}

void check_outcome(const Caller& caller, const Operation& operation) {
  const Outcome outcome = operation.outcome.load(std::memory_order_relaxed);
  if (outcome == Outcome::kOk) [[likely]]
    return;
  World& world = *operation.owner->world;
  if (outcome == Outcome::kStopped)
    world.throw_stopped(*operation.owner, caller.operation, caller.place);
  // Nobody can go on from a mismatch: it stops the world, even if the rank catches what it is
  // thrown.
  const auto stop_and_throw = [&](const auto& error) {
    world.stop(std::make_exception_ptr(error));
    throw error;
  };
  if (operation.kind == OperationKind::kCollective) {
    stop_and_throw(CollectiveMismatch(operation.mismatch, caller.context()));
  } else {
    stop_and_throw(MessageMismatch(operation.mismatch, caller.context(operation.peer)));
  }
}

}  // namespace rankbox::sim
