// Unchecked arithmetic on host memory, for backends.
#pragma once

#include "comm/reduce_op.h"
#include "comm/slice.h"

namespace rankbox::host {

/// into[i] = into[i] op from[i], like accumulate() of comm/tensor.h, but unchecked. REQUIRES: the
/// slices have one size and dtype, and are the same or disjoint.
void reduce(Slice into, Slice from, ReduceOp op);

/// into[i] += factor * from[i], likewise. REQUIRES: integers have a whole factor that fits.
void add_scaled(Slice into, double factor, Slice from);

/// into[i] = into[i] / divisor, like /=, but unchecked. REQUIRES: divisor > 0.
void divide(Slice into, int divisor);

}  // namespace rankbox::host
