// Reduce of large tensors (Rabenseifner): distribute the additions first, then gather the results.
//
// In a tree, half of the ranks are idle after the first round. Here all keep working, each on an
// ever smaller part. Number the ranks from dst on: virtual_rank = (rank - dst) mod p.
//   1. Fold: let q be the largest power of two that is at most p. Virtual ranks v >= q send their
//      tensor to v - q, which adds it, and are done.
//   2. Halve, distances 1, 2, 4, … below q: partners differ in one bit; each sends the other one
//      half of the range they share, and adds up the half it keeps. Bit clear: keep
//      chunk(range, 0, 2); bit set: keep chunk(range, 1, 2). At the end each has a complete q-th of
//      the tensor.
//   3. Gather, distances q/2, …, 2, 1: the partner with the bit set sends all it has, and is done.
//
//   p = 4                v0          v1          v2          v3      (2: two added)
//   before               1111        1111        1111        1111
//   halve, distance 1    22··  ◀───▶ ··22        22··  ◀───▶ ··22
//   halve, distance 2    4···        ··4·        ·4··        ···4        v0 ◀▶ v2, v1 ◀▶ v3
//   gather, distance 2   44··        ··44        ·           ·           v0 ◀─ v2, v1 ◀─ v3
//   gather, distance 1   4444  ◀──── ·
//
// Other orders of the distances cost the same. In this one the large parts travel between
// neighbours, which are likely to share a node.
//
// Cost, f = (q-1)/q: p = q: 2 log2 q α + 2fnβ + fnγ for tensors of n bytes;
//                    other p: (2 log2 q + 1)α + (2f+1)nβ + (f+1)nγ.
// If q does not divide the number of elements N: fn stands for Σ ⌈N/2^k⌉ elements, k = 1 … log2 q.
// Blocks: until the partners of every round have reached it.
// Difficulty 5/5. Importance 3/5.
// Paper: Rabenseifner, Optimization of collective reduction operations, ICCS 2004.
#pragma once

#include "comm/comm.h"

namespace rankbox {

/// `tensor` on dst becomes the reduction of all ranks' tensors; elsewhere its contents are lost.
/// AVG: add as SUM, and divide once at the very end (collectives/average.h).
///
/// REQUIRES: every rank calls it with the same dst and op, and a tensor of the same size.
/// Errors: InvalidArgument if there is no rank dst; MessageMismatch if the sizes differ.
void reduce_scatter_gather(Comm& dist, Tensor& tensor, int dst, ReduceOp op);

}  // namespace rankbox
