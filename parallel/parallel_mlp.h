// parallel_mlp: the feed-forward block of a transformer on many ranks, with one all-reduce a pass.
//
// A linear layer cut by columns leaves its result in columns; a linear layer cut by rows takes just
// that. GELU between them needs one element at a time. So ranks meet at the end, and not between:
//
//           ┌── fc1's columns ── GELU ── fc2's rows ──┐
//   x ── f ─┼── fc1's columns ── GELU ── fc2's rows ──┼─ g ── + b ── y
//           └── fc1's columns ── GELU ── fc2's rows ──┘
//   forward                                            all-reduce
//   backward  all-reduce
//
// The other way round, rows first, there would be an all-reduce before GELU: GELU of a sum is not the
// sum of GELUs.
//
// Build on column_linear, row_linear and shard.gelu.
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
#include "parallel/layer_shards.h"
#include "training/layers/gelu.h"
#include "training/layers/linear.h"

namespace rankbox {

/// A rank's part of linear layer, GELU, linear layer.
struct ParallelMlp {
  /// Of these two, of which the first has as many outputs as the second has inputs, a multiple of
  /// world_size.
  ParallelMlp(const Linear& whole1, const Linear& whole2, int rank, int world_size)
      : fc1(column_shard(whole1, rank, world_size)),
        fc2(row_shard(whole2, rank, world_size)),
        bias(whole2.bias) {}

  Linear fc1;      // rows of W₁ and b₁
  Gelu gelu;       // has no parameters
  Linear fc2;      // columns of W₂
  Parameter bias;  // b₂, whole

  std::vector<Parameter*> parameters() { return {&fc1.weight, &fc1.bias, &fc2.weight, &bias}; }
};

/// Forward: `tensor` is x [rows, in], whole, and becomes y [rows, out], whole.
/// Backward: it is dy, whole, and becomes dx, whole; adds to the gradients of the shard.
///
/// @param saved as layers use it: forward pushes what backward pops
/// REQUIRES: every rank calls it in the same direction, with its shard of the same block and the same
/// tensor.
/// Errors: as Linear.
void parallel_mlp(Comm& dist, ParallelMlp& shard, Direction direction, Tensor& tensor,
                  Saved& saved);

}  // namespace rankbox
