// All-gather through rank 0, along trees: a tree up (gather_tree), and the same tree down
// (broadcast_tree).
//
//                        rank 0     rank 1     rank 2     rank 3
//   before   tensor      A          B          C          D
//   up       gathered    A B C D    ·          ·          ·         rounds of growing blocks
//   after    gathered    A B C D    A B C D    A B C D    A B C D   rounds of all p tensors
//
// Two calls compose into a third, so there is nothing new to get wrong, for any p. The price is on
// the way down, where every round carries all p tensors. (Recursive doubling, in which partners
// swap blocks in both directions, needs no way down, but works only for powers of two;
// allgather_bruck is its generalization to every p.)
//
// Cost: 2⌈log2 p⌉ α + (p-1 + p⌈log2 p⌉) n β for tensors of n bytes.
// Blocks: until this rank's block has been sent up and the whole has come down.
// Difficulty 1/5. Importance 2/5.
// Paper: Thakur, Rabenseifner and Gropp, Optimization of collective communication operations in
// MPICH, IJHPCA 19 (2005).
#pragma once

#include "comm/comm.h"

namespace rankbox {

/// `gathered` on every rank becomes rank 0's tensor, then rank 1's, and so on.
///
/// REQUIRES: every rank calls it with tensors of one size, N; gathered has world_size x N elements.
/// Errors: InvalidArgument or MessageMismatch if a size differs.
void allgather_tree(Comm& dist, const Tensor& tensor, Tensor& gathered);

}  // namespace rankbox
