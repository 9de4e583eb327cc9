// Broadcast along a binomial tree: every rank that has the tensor passes it on, so the number of
// ranks that have it doubles in every round.
//
// Number the ranks from src on: virtual_rank = (rank - src) mod p. In round k the virtual ranks
// below 2^k have the tensor, and each sends it to the one 2^k above, if there is one.
//
//   p = 6         v0      v1      v2      v3      v4      v5
//   before        x       ·       ·       ·       ·       ·
//   distance 1    x ────▶ x       ·       ·       ·       ·
//   distance 2    x       x       x       x       ·       ·       v0 ▶ v2, v1 ▶ v3
//   distance 4    x       x       x       x       x       x       v0 ▶ v4, v1 ▶ v5
//
// p need not be a power of two: the last round may have fewer partners. Few rounds make it the
// choice for small tensors; large ones suffer because src sends the whole tensor ⌈log2 p⌉ times.
//
// Cost: ⌈log2 p⌉ (α + nβ) for a tensor of n bytes.
// Blocks: until the rank above in the tree has the tensor, and until those below have taken it.
// Difficulty 2/5. Importance 3/5.
// Paper: Thakur, Rabenseifner and Gropp, Optimization of collective communication operations in
// MPICH, IJHPCA 19 (2005).
#pragma once

#include "comm/comm.h"

namespace rankbox {

/// `tensor` becomes that of src on every rank.
///
/// REQUIRES: every rank calls it with the same src and a tensor of the same size.
/// Errors: InvalidArgument if there is no rank src; MessageMismatch if the sizes differ.
void broadcast_tree(Comm& dist, Tensor& tensor, int src);

}  // namespace rankbox
