// parallel_mlp: the feed-forward block of a transformer on many ranks, with one all-reduce per
// pass.
//
// A linear layer cut by columns leaves its result in columns; a linear layer cut by rows takes its
// input in columns. The activation between them, GELU or ReLU, works on one element at a time. So
// ranks communicate at the end, and not in between:
//
//           ┌── fc1's columns ── activation ── fc2's rows ──┐
//   x ── f ─┼── fc1's columns ── activation ── fc2's rows ──┼─ g ── + b ── y
//           └── fc1's columns ── activation ── fc2's rows ──┘
//   forward                                                  all-reduce
//   backward  all-reduce
//
// The other way round, rows first, there would be an all-reduce before the activation: GELU of a
// sum is not the sum of GELUs.
//
// Build on column_linear, row_linear and shard.activation.
//
// Cost: forward the native all-reduce of y; backward that of dx.
// Memory: 1/p of both matrices, of their gradients, and of what lies between them.
// Blocks: until all ranks have called it.
// Difficulty 2/5. Importance 5/5.
// Paper: Shoeybi et al., Megatron-LM, 2019, section 3.
#pragma once

#include <vector>

#include "comm/comm.h"
#include "parallel/direction.h"
#include "training/layers/linear.h"

namespace rankbox {

/// A rank's part of linear layer, activation, linear layer. It holds references, and owns nothing.
struct ParallelMlp {
  Linear& fc1;        // rows of W₁ and b₁
  Layer& activation;  // element by element; has no parameters
  Linear& fc2;        // columns of W₂, no bias
  Parameter& bias;    // b₂, whole

  std::vector<Parameter*> parameters() { return {&fc1.weight, &fc1.bias, &fc2.weight, &bias}; }
};

/// Forward: `tensor` is x [rows, in], whole, and becomes y [rows, out], whole.
/// Backward: it is dy, whole, and becomes dx, whole; adds to the gradients of the shard.
///
/// @param saved as layers use it: forward pushes what backward pops
/// REQUIRES: every rank calls it in the same direction, with its shard of the same block and the
/// same tensor.
/// Errors: as Linear.
void parallel_mlp(Comm& dist, ParallelMlp& shard, Direction direction, Tensor& tensor,
                  Saved& saved);

}  // namespace rankbox
