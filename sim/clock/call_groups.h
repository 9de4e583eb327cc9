// Which started messages of a rank make one group: they start together, and are one call of the
// library.
//
// A group is a run of neighbours, in the order of their starts, that are waited for in one
// wait_all, if it is the rank's first blocking call after them. NCCL calls it ncclGroupStart, torch
// batch_isend_irecv.
#pragma once

#include <cstdint>
#include <vector>

#include "comm/trace.h"

namespace rankbox {

/// Returns, for each event of a rank, the number of its group, or 0 if it is no started message. A
/// message that is not grouped has a number that no other has.
/// Cost: O(E) for E events.
std::vector<std::uint32_t> call_groups(const std::vector<Event>& events);

/// Returns, for each event of a rank, whether it is a send that starts with an earlier one of its
/// group.
std::vector<bool> joining_sends(const std::vector<Event>& events);

}  // namespace rankbox
