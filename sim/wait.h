// Waiting for an operation, and ending another rank's wait.
#pragma once

#include "sim/message/operation.h"

namespace rankbox::sim {

/// Blocks its owner, on whose thread it is called, until `operation` is done. Spins, then parks;
/// helps a collective that asks for it. `other` is a second operation the rank needs as
/// well (the other half of a sendrecv), for the report of a deadlock. If all live ranks are parked
/// now, stops the world with a DeadlockError.
void wait_until_done(Operation& operation, const Operation* other = nullptr);

/// Marks another rank's operation as done and wakes that rank if it is parked. The operation may be
/// gone when this returns.
void complete(Operation& operation);

/// Wakes the rank that waits for `operation` to help with its collective.
void ask_for_help(Operation& operation);

}  // namespace rankbox::sim
