// Waits for an operation, and ends another rank's wait.
#pragma once

#include "sim/message/operation.h"

namespace rankbox::sim {

/// Blocks the owner, on whose thread it is called, until `operation` is done. Spins, then parks;
/// helps a collective that asks for it. `other` is a second operation that the rank needs (the
/// other half of a sendrecv), for the deadlock report. If all live ranks are parked now, stops the
/// world with a DeadlockError.
void wait_until_done(Operation& operation, const Operation* other = nullptr);

/// Marks another rank's operation as done and wakes that rank if it is parked. The operation may be
/// destroyed when this returns.
void complete(Operation& operation);

/// Wakes the rank that waits for `operation`, to help with its collective.
void ask_for_help(Operation& operation);

}  // namespace rankbox::sim
