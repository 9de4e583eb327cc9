// All-gather around a ring: in every step each rank passes on to the next rank what it received
// from the previous one.
//
//   p = 4     rank 0      rank 1      rank 2      rank 3
//   before    0 · · ·     · 1 · ·     · · 2 ·     · · · 3      in step s, a rank passes on
//   step 0    0 · · 3     0 1 · ·     · 1 2 ·     · · 2 3      the tensor of rank - s
//   step 1    0 · 2 3     0 1 · 3     0 1 2 ·     · 1 2 3
//   step 2    0 1 2 3     0 1 2 3     0 1 2 3     0 1 2 3
//
// All links are busy all the time, each carries every tensor but one exactly once, and every rank
// talks only to its two neighbours. No algorithm moves fewer bytes. The weakness is the p-1
// latencies, one after the other.
//
// Cost: (p-1)(α + nβ) for tensors of n bytes.
// Blocks: until all tensors have gone round.
// Difficulty 3/5. Importance 4/5.
// Paper: Thakur, Rabenseifner and Gropp, Optimization of collective communication operations in
// MPICH, IJHPCA 19 (2005); the second half of the ring all-reduce of Patarasuk and Yuan, J.
// Parallel Distrib. Comput. 69 (2009).
#pragma once

#include "comm/comm.h"

namespace rankbox {

/// `gathered` on every rank becomes rank 0's tensor, then rank 1's, and so on.
///
/// REQUIRES: every rank calls it with tensors of one size, N; gathered has world_size x N elements.
/// Errors: InvalidArgument or MessageMismatch if a size differs.
void allgather_ring(Comm& dist, const Tensor& tensor, Tensor& gathered);

}  // namespace rankbox
