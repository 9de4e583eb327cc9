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
    stop_and_throw(CollectiveMismatch(operation.mismatch->text, caller.context()));
  } else {
    const Mismatch& mismatch = *operation.mismatch;
    stop_and_throw(MessageMismatch(mismatch.text, caller.context(mismatch.peer)));
  }
}

}  // namespace rankbox::sim
