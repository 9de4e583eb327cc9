// parallel_attention: self-attention with the heads sharded over the ranks.
//
// Heads are independent until the last linear layer mixes them. So each rank has some whole heads:
// their rows of the layer that makes q, k and v, and their columns of the layer after attention.
//
//           ┌── q k v of heads 0, 1 ── softmax(q kᵀ / √d) v ── columns of out ──┐
//   x ── f ─┤                                                                   ├─ g ── + b ── y
//           └── q k v of heads 2, 3 ── softmax(q kᵀ / √d) v ── columns of out ──┘
//   forward                                                                      all-reduce
//   backward  all-reduce
//
// The layer that makes q, k and v has its rows head by head: q, k and v of head 0, then those of
// head 1 (training/layers/attention.h). So 1/p of the rows are whole heads, provided that p divides
// their number. Half a head could not compute its softmax.
//
// Build on column_linear, row_linear and Attention, which has no parameters: make one, for as many
// heads as this rank has.
//
// Cost: forward the native all-reduce of y; backward that of dx.
// Memory: 1/p of both matrices, of their gradients, and of the weights
// [batch, heads, length, length].
// Blocks: until all ranks have called it.
// Difficulty 3/5. Importance 4/5.
// Paper: Shoeybi et al., Megatron-LM, 2019, section 3.
#pragma once

#include <cstdint>
#include <vector>

#include "comm/comm.h"
#include "parallel/direction.h"
#include "training/layers/attention.h"
#include "training/layers/linear.h"

namespace rankbox {

/// A rank's part of linear layer, attention, linear layer. It holds references, and owns nothing.
struct ParallelAttention {
  Linear& qkv;         // rows of whole heads: q, k, v of the first, of the next, …
  Linear& out;         // columns of these heads, no bias
  Parameter& bias;     // out's, whole
  std::int64_t heads;  // of all ranks together, a multiple of their number

  std::vector<Parameter*> parameters() { return {&qkv.weight, &qkv.bias, &out.weight, &bias}; }
};

/// Forward: `tensor` is x [batch, length, width], whole, and becomes y of the same shape, whole.
/// Backward: it is dy, whole, and becomes dx, whole; adds to the gradients of the shard.
///
/// @param saved as layers use it: forward pushes what backward pops; has the texts' lengths
/// REQUIRES: every rank calls it in the same direction, with its shard of the same block and the
/// same tensor.
/// Errors: as Linear and Attention.
void parallel_attention(Comm& dist, ParallelAttention& shard, Direction direction, Tensor& tensor,
                        Saved& saved);

}  // namespace rankbox
