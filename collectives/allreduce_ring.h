// All-reduce around a ring: every chunk of the tensor travels once round to collect its sum, and
// once more to distribute it. This is how gradients are summed in practice.
//
// Chunk c is chunk(tensor, c, world_size). In every step each rank sends one chunk to the next rank
// while it receives another from the previous one: all links are busy all the time.
//
//   p = 3                rank 0        rank 1        rank 2          (2: two added)
//   before               1 1 1         1 1 1         1 1 1
//   1. reduce, step 0    1 1 2         2 1 1         1 2 1           r sends chunk r, adds r-1
//              step 1    1 3 2         2 1 3         3 2 1           r sends r-1, adds r-2
//   2. gather, step 0    3 3 2         2 3 3         3 2 3           r sends r+1, complete
//              step 1    3 3 3         3 3 3         3 3 3           r sends r
//
// Each rank sends 2(p-1)/p of a tensor: hardly more for a thousand ranks than for ten. In no
// all-reduce of sends and receives does the busiest rank send less. The price is 2(p-1) latencies,
// one after the other. Every chunk is added up once and then copied: all ranks end with the same
// bits.
//
// Cost: 2(p-1)α + 2 (p-1)/p nβ + (p-1)/p nγ for tensors of n bytes. If p does not divide the number
// of elements N: every step lasts as long as the largest chunk takes, so count ⌈N/p⌉ elements
// instead of N/p.
// Blocks: until all ranks have called it and the chunks have gone round.
// Difficulty 3/5. Importance 5/5.
// Paper: Patarasuk and Yuan, Bandwidth optimal all-reduce algorithms for clusters of workstations,
// J. Parallel Distrib. Comput. 69 (2009).
#pragma once

#include "comm/comm.h"

namespace rankbox {

/// `tensor` on every rank becomes the reduction of all ranks' tensors, the same bits everywhere.
/// AVG: add as SUM, and divide once at the very end (collectives/average.h).
///
/// REQUIRES: every rank calls it with the same op and a tensor of the same size.
/// Errors: MessageMismatch if the sizes differ.
void allreduce_ring(Comm& dist, Tensor& tensor, ReduceOp op);

}  // namespace rankbox
