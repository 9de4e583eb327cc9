// conjugate_f: where a tensor that all ranks have enters sharded layers.
//
// Forward it does nothing: every rank continues with the same x. Backward every rank has the
// derivative of the loss by x through its own weights only. The loss depends on x through all of
// them, so the derivatives are added up.
//
//              forward                              backward
//   x ──► f ──► x   rank 0's weights       Σ dx ◄── f ◄── dx of rank 0's weights
//          ├──► x   rank 1's                         ├◄── dx of rank 1's
//          └──► x   rank 2's                         └◄── dx of rank 2's
//
// A copy to all ranks and a sum: each is the derivative of the other. f and g (conjugate_g.h) are
// the same pair, the other way round; between the two, ranks need nothing from each other.
//
// Build on dist.all_reduce.
//
// Cost: forward none; backward the native all-reduce of the tensor.
// Blocks: backward, until all ranks have called it.
// Difficulty 1/5. Importance 4/5.
// Paper: Shoeybi et al., Megatron-LM, 2019, section 3.
#pragma once

#include "comm/comm.h"
#include "parallel/direction.h"

namespace rankbox {

/// Forward the tensor stays as it is; backward it becomes the sum over the ranks, as
/// ReduceOp::SUM computes it. An average times the world size is rounded twice, and may differ.
///
/// REQUIRES: every rank calls it in the same direction, with a tensor of the same size.
void conjugate_f(Comm& dist, Direction direction, Tensor& tensor);

}  // namespace rankbox
