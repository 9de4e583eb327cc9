// ReduceOp::AVG is a sum that is divided once, by the number of ranks in the whole world, at the
// very end.
//
// Other libraries divide first: NCCL multiplies floats by 1/p before it adds, and DDP divides
// gradients before its all-reduce. That keeps 16-bit sums in range, and rounds differently.
//
// Dividing earlier goes wrong silently: an average of averages gives the ranks of a small group
// more weight than those of a large one, and every division rounds.
//
// Thread safety: these functions keep no state; the slice is the caller's.
#pragma once

#include "comm/reduce_op.h"
#include "comm/tensor.h"

namespace rankbox {

/// The last step of a reduction over `world_size` ranks: nothing, unless op is AVG. Costs no
/// virtual time.
inline void divide_if_average(Slice result, ReduceOp op, int world_size) {
  if (op == ReduceOp::AVG) {
    result /= world_size;
  }
}

/// The operation for a part of the ranks, whose result is reduced further: SUM instead of AVG.
constexpr ReduceOp sum_if_average(ReduceOp op) { return op == ReduceOp::AVG ? ReduceOp::SUM : op; }

}  // namespace rankbox
