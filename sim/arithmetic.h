// Element-wise kernels on raw host memory, without checks and without a trace: for the native collectives and the tensors.
#pragma once

#include <cstdint>

#include "comm/dtype.h"
#include "comm/reduce_op.h"

namespace rankbox::sim {

/// into[i] = into[i] op from[i]; AVG adds.
void reduce_elements(void* into, const void* from, std::int64_t count, DType dtype, ReduceOp op);

/// into[i] = a[i] op b[i]: one pass where copy-then-reduce would take two. `into` may be a.
void reduce_elements(void* into, const void* a, const void* b, std::int64_t count, DType dtype, ReduceOp op);

/// into[i] = into[i] / divisor; integers round towards zero.
void divide_elements(void* into, std::int64_t count, DType dtype, std::int64_t divisor);

}  // namespace rankbox::sim
