// All-reduce along a tree: up to rank 0 and down again.
//
//   p = 4                rank 0    rank 1    rank 2    rank 3
//   before               a         b         c         d
//   reduce, distance 1   ab ◀───── ·         cd ◀───── ·
//   reduce, distance 2   abcd ◀───────────── ·         ·
//   broadcast, dist. 1   abcd ───▶ abcd      ·         ·
//   broadcast, dist. 2   abcd      abcd      abcd      abcd      0 ▶ 2, 1 ▶ 3
//
// It works for every number of ranks without a special case. But one of the two directions of every
// link is idle at any time, and most ranks wait while the tensor passes through the root: see
// allreduce_butterfly.
//
// Cost: 2⌈log2 p⌉ (α + nβ) + ⌈log2 p⌉ nγ for tensors of n bytes.
// Blocks: until the sum has gone up to rank 0 and down to this rank.
// Difficulty 1/5. Importance 3/5.
// Paper: Thakur, Rabenseifner and Gropp, Optimization of collective communication operations in
// MPICH, IJHPCA 19 (2005).
#pragma once

#include "comm/comm.h"

namespace rankbox {

/// `tensor` on every rank becomes the reduction of all ranks' tensors, the same bits everywhere.
/// AVG: add as SUM, and divide once at the very end (collectives/average.h).
///
/// REQUIRES: every rank calls it with the same op and a tensor of the same size.
/// Errors: MessageMismatch if the sizes differ.
void allreduce_tree(Comm& dist, Tensor& tensor, ReduceOp op);

}  // namespace rankbox
