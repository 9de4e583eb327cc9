// All-reduce of large tensors in few steps (Rabenseifner): halve the work in every round until each
// rank has summed its own part, then double it back.
//
//   1. Fold: let q be the largest power of two that is at most p. Ranks r >= q send their tensor to
//      r - q, which adds it. (MPICH folds neighbours instead, which more often share a node.)
//   2. Halve, distances 1, 2, 4, … below q: partners differ in one bit; each sends the other one
//      half of the range they share, and adds up the half it keeps. Bit clear: keep
//      chunk(range, 0, 2); bit set: keep chunk(range, 1, 2).
//   3. Double, distances q/2, …, 2, 1: the same partners swap what they have, which is complete by
//      now.
//   4. Unfold: ranks r - q send the result to ranks r.
//
//   p = 4                rank 0      rank 1      rank 2      rank 3      (2: two added)
//   before               1111        1111        1111        1111
//   halve, distance 1    22··  ◀───▶ ··22        22··  ◀───▶ ··22
//   halve, distance 2    4···        ··4·        ·4··        ···4        0 ◀▶ 2, 1 ◀▶ 3
//   double, distance 2   44··        ··44        44··        ··44        0 ◀▶ 2, 1 ◀▶ 3
//   double, distance 1   4444  ◀───▶ 4444        4444  ◀───▶ 4444
//
// It moves the bytes of the ring in the rounds of a tree: for powers of two, the best of both.
// Other p pay for folding two more tensors, more than the ring needs in all. Other orders of the
// distances cost the same; in this one the large parts travel between neighbours, which are likely
// to share a node. Every part is added up once and then copied: all ranks end with the same bits.
//
// Cost, f = (q-1)/q: p = q: 2 log2 q α + 2fnβ + fnγ for tensors of n bytes;
//                    other p: (2 log2 q + 2)α + (2f+2)nβ + (f+1)nγ.
// If q does not divide the number of elements N: fn stands for Σ ⌈N/2^k⌉ elements, k = 1 … log2 q.
// Blocks: until the partners of every round have reached it.
// Difficulty 4/5. Importance 4/5.
// Paper: Rabenseifner, Optimization of collective reduction operations, ICCS 2004.
#pragma once

#include "comm/comm.h"

namespace rankbox {

/// `tensor` on every rank becomes the reduction of all ranks' tensors, the same bits everywhere.
/// AVG: add as SUM, and divide once at the very end (collectives/average.h).
///
/// REQUIRES: every rank calls it with the same op and a tensor of the same size.
/// Errors: MessageMismatch if the sizes differ.
void allreduce_rabenseifner(Comm& dist, Tensor& tensor, ReduceOp op);

}  // namespace rankbox
