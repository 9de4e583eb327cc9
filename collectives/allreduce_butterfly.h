// All-reduce by recursive doubling: partners swap what they have and both add it up, so each rank
// covers twice as many ranks after every round.
//
//   p = 4                rank 0    rank 1    rank 2    rank 3
//   before               a         b         c         d
//   distance 1           ab ◀────▶ ab        cd ◀────▶ cd
//   distance 2           abcd      abcd      abcd      abcd      0 ◀▶ 2, 1 ◀▶ 3
//
// In the round of distance 2^k the partner's rank differs in bit k. That needs a power of two; for
// other p let q be the largest one below. Ranks r >= q first fold their tensor into rank r - q, and
// receive the result from it at the end.
//
// Every rank computes everything: nothing is faster for small tensors, and little is slower for
// large ones. All ranks end with the same bits: partners compute a + b and b + a, which IEEE 754
// makes equal. (This does not hold for max and min of NaN, or of 0 and -0: where that matters, let
// both partners take the lower rank's value first.)
//
// Cost: p = q: log2 q (α + nβ + nγ) for tensors of n bytes;
//       other p: (log2 q + 2)(α + nβ) + (log2 q + 1)nγ.
// Blocks: until the partners of every round have reached it.
// Difficulty 2/5. Importance 3/5.
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
void allreduce_butterfly(Comm& dist, Tensor& tensor, ReduceOp op);

}  // namespace rankbox
