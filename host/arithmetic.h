// Arithmetic on host memory that a backend wraps before learners get it.
#pragma once

#include "comm/reduce_op.h"
#include "comm/slice.h"

namespace rankbox::host {

/// into[i] = into[i] op from[i], as accumulate() of comm/tensor.h promises, but unchecked: the slices
/// are of one size and dtype, and are the same or apart.
void reduce(Slice into, Slice from, ReduceOp op);

}  // namespace rankbox::host
