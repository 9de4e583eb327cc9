// The wait-for graph and the deadlock report.
#pragma once

#include <string>
#include <vector>

#include "comm/errors.h"
#include "sim/message/channel.h"
#include "sim/rank_state.h"

namespace rankbox::sim {

/// Returns the rank's wait; null if it does not wait. REQUIRES: `waits` is sorted by rank.
const Wait* find_wait(const std::vector<Wait>& waits, int rank);

/// Returns "rank 2 sent 16 bytes to rank 0 at ring.cc:14", "rank 0 waits for 16 bytes from rank 2
/// at …".
std::string in_words(const Channel::Leftover& leftover);

/// Returns the error for ranks that will never wake. It names their waits and the cycle that they
/// form, or the chain that ends at a rank that returned. It also names the first other unmatched
/// message. The text is deterministic: it does not depend on which rank was last.
/// @param returned [world rank]
/// @param unmatched messages with one side only, in reporting order
DeadlockError explain_deadlock(const std::vector<const RankState*>& asleep,
                               const std::vector<bool>& returned,
                               const std::vector<Channel::Leftover>& unmatched);

}  // namespace rankbox::sim
