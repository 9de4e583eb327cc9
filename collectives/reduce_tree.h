// Reduce along a binomial tree: in every round half of the ranks send what they have to a partner,
// which adds it to its own, and are done.
//
// Number the ranks from dst on: virtual_rank = (rank - dst) mod p. In the round of distance 2^k, a
// virtual rank with bit k set sends to the one 2^k below; those without receive, if there is a rank
// above.
//
//   p = 6         v0       v1       v2       v3       v4       v5
//   before        a        b        c        d        e        f
//   distance 1    ab ◀──── ·        cd ◀──── ·        ef ◀──── ·
//   distance 2    abcd ◀─────────── ·                 ef       no v6: v4 waits
//   distance 4    abcdef ◀─────────────────────────── ·
//
// The additions of a round happen at the same time on different ranks. Where every rank adds
// neighbours, in order, only the brackets differ from the naive sum.
//
// Cost: ⌈log2 p⌉ (α + nβ + nγ) for tensors of n bytes.
// Blocks: a rank until those below it in the tree have sent, and until the rank above has received.
// Difficulty 3/5. Importance 2/5.
// Paper: Thakur, Rabenseifner and Gropp, Optimization of collective communication operations in
// MPICH, IJHPCA 19 (2005).
#pragma once

#include "comm/comm.h"

namespace rankbox {

/// `tensor` on dst becomes the reduction of all ranks' tensors; elsewhere its contents are lost.
/// AVG: add as SUM, and divide once at the very end (collectives/average.h).
///
/// REQUIRES: every rank calls it with the same dst and op, and a tensor of the same size.
/// Errors: InvalidArgument if there is no rank dst; MessageMismatch if the sizes differ.
void reduce_tree(Comm& dist, Tensor& tensor, int dst, ReduceOp op);

}  // namespace rankbox
