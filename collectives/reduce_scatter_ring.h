// Reduce-scatter around a ring: each chunk travels once round and collects every rank's share on
// its way.
//
// Chunk c (of p nearly equal ones) starts at rank c+1 and reaches rank c last, which adds its own
// share and keeps it. In step s, a rank sends chunk rank-1-s to the next one and receives chunk
// rank-2-s from the previous one.
//
//   p = 3, SUM    rank 0              rank 1              rank 2
//   before        a0  a1  a2          b0  b1  b2          c0  c1  c2
//   step 0        .   a1+c1  .        .   .   b2+a2       c0+b0  .   .     rank 0 sent a2, …
//   step 1        a0+b0+c0            a1+b1+c1            a2+b2+c2
//   piece         chunk 0             chunk 1             chunk 2
//
// This is the first half of the ring all-reduce; allgather_ring is the other. In ZeRO and FSDP it
// delivers to each rank the sum of just the gradients whose parameters it keeps.
//
// Cost: (p-1) α + (p-1) m (β + γ), where m is the bytes of the largest chunk: ⌈N/p⌉ elements.
// Blocks: until all p-1 shares of this rank's chunk have been added.
// Difficulty 3/5. Importance 4/5.
// Paper: Patarasuk and Yuan, Bandwidth optimal all-reduce algorithms for clusters of workstations,
// JPDC 69 (2009).
#pragma once

#include "comm/comm.h"

namespace rankbox {

/// `piece` of rank r becomes chunk(tensor, r, world_size) of the reduction over all ranks' tensors.
/// `tensor` is used as work space: its contents are lost.
/// AVG: add as SUM, and divide once at the very end (collectives/average.h).
///
/// REQUIRES: every rank calls it with the same op and tensors of one size; piece has as many
/// elements as chunk(tensor, rank, world_size).
/// Errors: InvalidArgument or MessageMismatch if a size differs.
void reduce_scatter_ring(Comm& dist, Tensor& tensor, Tensor& piece, ReduceOp op);

}  // namespace rankbox
