// Helpers shared by the calls of a communicator.
#pragma once

#include "comm/call_checks.h"
#include "sim/group.h"
#include "sim/rank_state.h"

namespace rankbox::sim {

/// Checks the slices of a blocking call as check_not_in_use does. Nearly always one comparison.
inline void check_not_open(const RankState& rank, const Caller& caller, Slice read, Slice written) {
  if (!rank.open_requests.empty()) [[unlikely]]
    check_not_in_use(caller, read, written);
}

/// Announces an operation to the data plane, if there is one. Call it first, since it may throw.
inline DataPlane::Transit* prepare(const RankState& rank) {
  if (rank.data_plane == nullptr) [[likely]]
    return nullptr;
  return rank.data_plane->prepare(rank.rank);
}

/// Throws unless the operation succeeded: MessageMismatch, CollectiveMismatch, DeadlockError or
/// Aborted.
void check_outcome(const Caller& caller, const Operation& operation);

}  // namespace rankbox::sim
