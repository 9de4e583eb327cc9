// The beginning and the end that all calls of a communicator share.
#pragma once

#include "sim/checks.h"

namespace rankbox::sim {

/// Checks that this rank is in the communicator; lets planned faults and random pauses happen; makes
/// room for the call in the trace.
void begin_call(const Caller& caller, RankState& rank);

/// Throws what the operation ended with, unless it is well: MessageMismatch, CollectiveMismatch,
/// DeadlockError or Aborted.
void check_outcome(const Caller& caller, const Operation& operation);

}  // namespace rankbox::sim
