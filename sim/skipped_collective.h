// A collective that a rank left out, found where the same collective follows.
#pragma once

#include <string>

#include "sim/group.h"
#include "sim/rank_state.h"

namespace rankbox::sim {

/// Returns a line of a deadlock report, or "". `waiting` waits in a collective of `group` for
/// `returned`, which has returned. If the latter left out an earlier collective, each of its later
/// calls met an earlier one of the others: the line names the first two calls that met so. It is
/// "" unless `returned` called from a line that `waiting` only reached later.
/// Cost: O(m log m) for their m collectives. REQUIRES: no rank runs. The trace has all events of
/// both, else the line is "".
std::string skipped_collective(const Group& group, const RankState& waiting,
                               const RankState& returned);

}  // namespace rankbox::sim
