// Events of reductions, which cost virtual time in any memory.
#pragma once

#include "comm/reduce_op.h"
#include "comm/slice.h"
#include "comm/trace.h"

namespace rankbox::sim {

/// Begins the event of a reduction by the rank that runs on this thread; null outside of any rank.
Event* begin_reduction(Slice into, Slice from, ReduceOp op);

/// Ends the event: `into` holds the result, and is null where the host cannot read it.
void end_reduction(Event* event, Slice into);

}  // namespace rankbox::sim
