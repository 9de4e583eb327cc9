// The beginning and the end that all calls of a communicator share.
#pragma once

#include "comm/call_checks.h"
#include "sim/group.h"
#include "sim/rank_state.h"

namespace rankbox::sim {

/// @param group null: the rank was left out of this communicator
inline Caller caller_of(const RankState& rank, const Group* group, int index, const char* operation,
                        Place place) {
  return {rank.rank, rank.memory.owner, index, group == nullptr ? 0 : group->size(), operation,
          place};
}

/// Checks that this rank is in the communicator; lets planned faults and random pauses happen; makes
/// room for the call in the trace.
void begin_call(const Caller& caller, RankState& rank);

/// Throws what the operation ended with, unless it is well: MessageMismatch, CollectiveMismatch,
/// DeadlockError or Aborted.
void check_outcome(const Caller& caller, const Operation& operation);

}  // namespace rankbox::sim
