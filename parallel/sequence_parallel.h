// sequence_parallel: parallel_mlp between tensors that are sharded by rows.
//
// Between the blocks of a transformer with tensor parallelism, all ranks have the same tensors, and
// do the same with them: norms, dropout, residuals. That is p times the memory, and p times the
// work. Tokens are independent there, so each rank keeps 1/p of the rows. For that, the all-reduces
// of f and g are split into their halves.
//
//                  ┌── fc1's columns ── GELU ── fc2's rows ──┐
//   rows ── gather ┼── fc1's columns ── GELU ── fc2's rows ──┼ reduce-scatter ── + b ── rows
//                  └── fc1's columns ── GELU ── fc2's rows ──┘
//   forward  all-gather                                        reduce-scatter
//   backward reduce-scatter                                    all-gather
//
// An all-reduce is a reduce-scatter and an all-gather, so it moves as many bytes as parallel_mlp.
// Backward needs all rows of dy for the gradient of fc2's weights; with them, b's gradient needs no
// further message.
//
// Build on dist.all_gather and dist.reduce_scatter, and on the layers of the shard; add the bias
// with add_bias (+= of slices is a reduction, and is charged as one).
//
// Cost: in each direction the native all-gather of a rank's rows and the native reduce-scatter of
// all rows.
// Memory: outside the block 1/p of the activations. Inside, fc1 saves all rows of x; it could save
// its own and gather them again.
// Blocks: until all ranks have called it.
// Difficulty 4/5. Importance 3/5. A bonus.
// Paper: Korthikanti et al., Reducing activation recomputation in large transformer models, 2022,
// section 4.2.
#pragma once

#include "comm/comm.h"
#include "parallel/direction.h"
#include "parallel/layer_shards.h"
#include "parallel/parallel_mlp.h"

namespace rankbox {

/// Forward: `tensor` is this rank's rows of x, [rows / p, in], and becomes its rows of y,
/// [rows / p, out]. Backward: it is its rows of dy, and becomes its rows of dx; adds to the
/// gradients of the shard, which are those of all rows.
///
/// @param saved as layers use it: forward pushes what backward pops
/// REQUIRES: every rank calls it in the same direction, with its shard of the same block and
/// equally many rows: rank r has the r-th part of them.
/// Errors: as Linear.
void sequence_parallel(Comm& dist, ParallelMlp& shard, Direction direction, Tensor& tensor,
                       Saved& saved);

}  // namespace rankbox
