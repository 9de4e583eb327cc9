// The wait-for graph, and the report of a deadlock.
#pragma once

#include <string>
#include <vector>

#include "comm/errors.h"
#include "sim/message/channel.h"
#include "sim/rank_state.h"

namespace rankbox::sim {

/// What a parked rank waits for, in the terms of the learner's program.
Wait describe_wait(const RankState& rank);

/// "rank 2 sent 16 bytes to rank 0 at ring.cc:14", "rank 0 waits for 16 bytes from rank 2 at …".
std::string in_words(const Channel::Leftover& leftover);

/// The error for ranks that will never wake: names what each waits for and the cycle they form, or
/// the chain that ends at a rank that returned; and the first message besides that has only one
/// side. The same program deadlocks in the same words, whichever rank was last.
/// @param returned [world rank]
/// @param unmatched messages with one side only, in the order to tell them
DeadlockError explain_deadlock(const std::vector<const RankState*>& asleep,
                               const std::vector<bool>& returned,
                               const std::vector<Channel::Leftover>& unmatched);

}  // namespace rankbox::sim
