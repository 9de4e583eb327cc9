// column_linear: a linear layer y = x Wᵀ + b in which every rank computes some columns of y.
//
// W [out, in] is too large for one rank, or takes too long. Each rank keeps the rows
// [out·r/p, out·(r+1)/p) of W and of b. They produce just these columns of y, from the whole x:
//
//        x  (all ranks)         Wᵀ                         y
//      +--------+         +---+---+---+             +---+---+---+
//      |        |    ×    |   |   |   |     =       |   |   |   |
//      +--------+         |   |   |   |             +---+---+---+
//                         +---+---+---+
//                           0   1   2                 0   1   2
//
// The columns stay where they are: an activation function works on them, element by element.
// Backward, the gradients of W's rows and of b need only this rank's columns of dy; dx needs all of
// W: every rank's rows give one summand, and the summands are added up (conjugate_f).
//
// Build on shard.forward and shard.backward, which involve no other ranks, and on conjugate_f.
//
// Cost: forward none; backward the native all-reduce of dx.
// Memory: 1/p of the parameters, of their gradients and of y; x is whole.
// Blocks: backward, until all ranks have called it.
// Difficulty 2/5. Importance 5/5.
// Paper: Shoeybi et al., Megatron-LM, 2019, section 3.
#pragma once

#include "comm/comm.h"
#include "parallel/direction.h"
#include "training/layers/linear.h"

namespace rankbox {

/// Forward: `tensor` is x [rows, in], whole, and becomes this rank's columns of y [rows, out / p].
/// Backward: it is this rank's columns of dy, and becomes dx, whole; adds to the gradients of
/// shard.
///
/// @param saved as layers use it: forward pushes what backward pops
/// REQUIRES: every rank calls it in the same direction, with its shard of the same layer, p divides
/// out; forward with the same x.
/// Errors: as Linear.
void column_linear(Comm& dist, Linear& shard, Direction direction, Tensor& tensor, Saved& saved);

}  // namespace rankbox
