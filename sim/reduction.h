// A reduction costs virtual time, so the trace has to know of it, whichever memory it works on.
#pragma once

#include "comm/reduce_op.h"
#include "comm/slice.h"
#include "comm/trace.h"

namespace rankbox::sim {

/// Begins the event of a reduction by the rank that runs on this thread; null outside of any rank.
Event* begin_reduction(Slice from, ReduceOp op);

/// Ends it: `into` holds the result, and is null where nobody on the host can read it.
void end_reduction(Event* event, Slice into);

}  // namespace rankbox::sim
