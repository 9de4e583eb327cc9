// Scatter along a binomial tree: src sends away the far half of what it holds, then half of the
// rest, and so on.
//
// This is gather_tree run backwards. Virtual ranks count from src: virtual_rank = (rank - src) mod
// p. A rank receives one block, for itself and its subtree, keeps the first piece and splits the
// rest in the same way.
//
//   p = 6      v0            v1     v2      v3     v4      v5
//   before     0 1 2 3 4 5   ·      ·       ·      ·       ·
//   round 0    0 1 2 3  ──────────────────────────▶ 4 5    ·      distance 4: block cut off at p
//   round 1    0 1  ──────────────▶ 2 3     ·      4 5     ·      distance 2: there is no v6
//   round 2    0  ─────────▶ 1      2  ───▶ 3      4  ───▶ 5      distance 1
//
// Cost: ⌈log2 p⌉ α + (p-1) n β for pieces of n bytes: the same bytes leave src as if it sent each
// piece itself.
// Blocks: a rank until its block has arrived, and until the ranks below it have theirs.
// Difficulty 3/5. Importance 2/5.
// Paper: Thakur, Rabenseifner and Gropp, Optimization of collective communication operations in
// MPICH, IJHPCA 19 (2005).
#pragma once

#include "comm/comm.h"

namespace rankbox {

/// `piece` of rank r becomes the r-th of the world_size equal pieces of src's `whole`.
///
/// REQUIRES: every rank calls it with the same src and pieces of one size, N; whole has world_size
/// x N elements on src, and is ignored elsewhere.
/// Errors: InvalidArgument if there is no rank src or whole has another size; MessageMismatch if
/// the pieces' sizes differ.
void scatter_tree(Comm& dist, const Tensor& whole, Tensor& piece, int src);

}  // namespace rankbox
