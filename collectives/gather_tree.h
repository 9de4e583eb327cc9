// Gather along a binomial tree: neighbours join, then pairs, until dst has everything.
//
// Number the ranks from dst on: virtual_rank = (rank - dst) mod p. In round k, a virtual rank with
// bit k set sends all it has gathered to the rank 2^k below, and is done. Those left hold
// contiguous blocks of virtual ranks.
//
//   p = 6     v0       v1      v2       v3      v4       v5
//   before    0        1       2        3       4        5
//   round 0   0 1  ◀── ·       2 3  ◀── ·       4 5  ◀── ·
//   round 1   0 1 2 3  ◀────── ·                4 5              v4 has no partner v6: it waits
//   round 2   0 1 2 3 4 5  ◀─────────────────── ·                a block of 2, not of 4
//
// dst then has the blocks in virtual order, which starts with its own. If dst = 4, v0 v1 v2 … are
// ranks 4 5 0 1 2 3: a rotation, two local copies, puts them into rank order.
//
// Cost: ⌈log2 p⌉ α + (p-1) n β for tensors of n bytes. These are the bytes of gather_naive, since
// all must enter dst through one port, in fewer and larger messages.
// Blocks: a rank until the blocks of those below it in the tree have arrived, and until the rank
// above has its block.
// Difficulty 4/5. Importance 2/5.
// Paper: Thakur, Rabenseifner and Gropp, Optimization of collective communication operations in
// MPICH, IJHPCA 19 (2005).
#pragma once

#include "comm/comm.h"

namespace rankbox {

/// `gathered` on dst becomes rank 0's tensor, then rank 1's, and so on; elsewhere it is left alone.
///
/// REQUIRES: every rank calls it with the same dst and tensors of one size, N; gathered has
/// world_size x N elements on dst, and may be empty elsewhere.
/// Errors: InvalidArgument if there is no rank dst or gathered has another size; MessageMismatch if
/// the tensors' sizes differ.
void gather_tree(Comm& dist, const Tensor& tensor, Tensor& gathered, int dst);

}  // namespace rankbox
