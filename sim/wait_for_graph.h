// Who waits for whom, and the story of a deadlock.
#pragma once

#include <vector>

#include "comm/errors.h"
#include "sim/rank_state.h"

namespace rankbox::sim {

/// What a sleeping rank waits for, in the terms of the learner's program.
Wait describe_wait(const RankState& rank);

/// The error for ranks that will never wake: names what each waits for and the cycle they form, or
/// the chain that ends at a rank that returned. The same program deadlocks in the same words,
/// whichever rank was last.
/// @param returned [world rank]
DeadlockError explain_deadlock(const std::vector<const RankState*>& asleep,
                               const std::vector<bool>& returned);

}  // namespace rankbox::sim
