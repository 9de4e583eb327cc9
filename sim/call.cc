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
  const Mismatch& mismatch = *operation.mismatch;
  if (operation.kind == OperationKind::kCollective) {
    // The cause is the same, whichever rank is first.
    world.stop(std::make_exception_ptr(CollectiveMismatch(mismatch.text, mismatch.differs)));
    throw CollectiveMismatch(mismatch.text, caller.context());
  }
  const MessageMismatch error(mismatch.text, caller.context(mismatch.peer));
  world.stop(std::make_exception_ptr(error));
  throw error;
}

}  // namespace rankbox::sim
