#include "sim/call.h"

#include "sim/world.h"

namespace rankbox::sim {
void check_outcome(const Caller& caller, const Operation& operation) {
  const Outcome outcome = operation.outcome.load(std::memory_order_relaxed);
  if (outcome == Outcome::kOk) [[likely]]
    return;
  World& world = *operation.owner->world;
  if (outcome == Outcome::kStopped)
    world.throw_stopped(*operation.owner, caller.operation, caller.place);
  // No rank can continue after a mismatch: it stops the world, even if the rank catches the error.
  const auto stop_and_throw = [&](const auto& error) {
    world.stop(std::make_exception_ptr(error));
    throw error;
  };
  if (operation.kind == OperationKind::kCollective) {
    stop_and_throw(CollectiveMismatch(operation.mismatch, caller.context()));
  } else {
    stop_and_throw(MessageMismatch(operation.mismatch, caller.context(operation.mismatch_peer)));
  }
}

}  // namespace rankbox::sim
