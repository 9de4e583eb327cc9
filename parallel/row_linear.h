// row_linear: a linear layer y = x Wᵀ + b whose x is sharded by columns.
//
// The output of a column_linear is not gathered. Each rank keeps the columns [in·r/p, in·(r+1)/p)
// of W that its columns of x are multiplied by: rows of Wᵀ. Every rank's product has y's shape, and
// y is their sum:
//
//           x                   Wᵀ
//      +---+---+---+         +-------+  0
//      |   |   |   |    ×    +-------+  1    =    x₀ W₀ᵀ + x₁ W₁ᵀ + x₂ W₂ᵀ  + b
//      +---+---+---+         +-------+  2
//        0   1   2           +-------+
//
// So forward ends in an all-reduce (conjugate_g). b is added to the sum: once, not once per rank's
// product. All ranks have b, and all of dy in the backward pass: each computes b's gradient by
// itself, without a message. dx comes out in columns, as x came in.
//
// Build on shard.forward and shard.backward, which involve no other ranks, and on conjugate_g; add
// the bias with add_bias (+= of slices is a reduction, and is charged as one).
//
// Cost: forward the native all-reduce of y; backward none.
// Memory: 1/p of W, of its gradient and of x; y is whole.
// Blocks: forward, until all ranks have called it.
// Difficulty 2/5. Importance 5/5.
// Paper: Shoeybi et al., Megatron-LM, 2019, section 3.
#pragma once

#include "comm/comm.h"
#include "parallel/direction.h"
#include "parallel/layer_shards.h"
#include "training/layers/linear.h"

namespace rankbox {

/// Forward: `tensor` is this rank's columns of x [rows, in / p] and becomes y [rows, out], whole.
/// Backward: it is dy, whole, and becomes this rank's columns of dx; adds to the gradients of shard
/// and of bias.
///
/// @param shard the columns of W that belong to this rank's columns of x; without a bias
/// @param bias b, whole, the same on all ranks
/// @param saved as layers use it: forward pushes what backward pops
/// REQUIRES: every rank calls it in the same direction, with its shard of the same layer, p divides
/// in; backward with the same dy.
/// Errors: as Linear.
void row_linear(Comm& dist, Linear& shard, Parameter& bias, Direction direction, Tensor& tensor,
                Saved& saved);

}  // namespace rankbox
