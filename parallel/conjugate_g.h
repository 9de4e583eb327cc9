// conjugate_g: where ranks' partial sums become a tensor that all ranks have.
//
// Forward every rank has one summand, from its own weights, and all ranks need the whole sum.
// Backward every rank already has the derivative of the loss by that sum; the derivative by each
// summand is the same. Nothing has to be sent, and another sum would make it p times too large.
//
//                     forward                         backward
//   rank 0's weights   x₀ ──► g ──► Σ x      dy ◄── g ◄── dy
//   rank 1's           x₁ ──► ┤              dy ◄── ┤
//   rank 2's           x₂ ──► ┘              dy ◄── ┘
//
// Build on dist.all_reduce.
//
// Cost: forward the native all-reduce of the tensor; backward none.
// Blocks: forward, until all ranks have called it.
// Difficulty 1/5. Importance 4/5.
// Paper: Shoeybi et al., Megatron-LM, 2019, section 3.
#pragma once

#include "comm/comm.h"
#include "parallel/direction.h"

namespace rankbox {

/// Forward the tensor becomes the sum over the ranks, as ReduceOp::SUM computes it; backward it
/// stays as it is. An average times the world size is rounded twice, and may differ.
///
/// REQUIRES: every rank calls it in the same direction, with a tensor of the same size.
void conjugate_g(Comm& dist, Direction direction, Tensor& tensor);

}  // namespace rankbox
