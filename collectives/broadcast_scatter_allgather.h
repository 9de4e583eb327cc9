// Broadcast of large tensors: scatter the pieces, then let all ranks reassemble them together.
//
// In a tree, src sends the whole tensor ⌈log2 p⌉ times while most others look on. Here it sends
// every element once: virtual rank v (counted from src) gets piece v down a binomial tree, and then
// all ranks pass pieces around the ring, all links busy.
//
//   p = 4                v0        v1        v2        v3
//   before               abcd      ····      ····      ····
//   scatter, half 2      abcd ──────── cd ─▶ ··cd      ····
//   scatter, half 1      abcd ─b─▶ ·b··      ··cd ─d─▶ ···d
//   ring, round 0        abcd      ab··      ·bcd      ··cd      each sends piece v, receives v-1
//   ring, round 1        abcd      ab·d      abcd      ·bcd      … v-1, … v-2
//   ring, round 2        abcd      abcd      abcd      abcd
//
// Piece v is segment(tensor, v, p), m = ⌈N/p⌉ of the N elements and the last ones fewer or none:
// see collectives/segment.h. With the large pieces first, no rank spends longer in the scatter than
// src.
//
// Cost: (⌈log2 p⌉ + p - 1)α + 2 (p-1)/p nβ for a tensor of n bytes: at most twice what any
// broadcast needs, however many ranks. If p does not divide N: N + (p-2)m elements, p >= 2.
// Blocks: until all ranks have called it and the pieces have gone round.
// Difficulty 4/5. Importance 3/5.
// Paper: Barnett, Shuler, van de Geijn, Gupta, Payne and Watts, Interprocessor collective
// communication library (InterCom), SHPCC 1994.
#pragma once

#include "comm/comm.h"

namespace rankbox {

/// `tensor` becomes that of src on every rank.
///
/// REQUIRES: every rank calls it with the same src and a tensor of the same size.
/// Errors: InvalidArgument if there is no rank src; MessageMismatch if the sizes differ.
void broadcast_scatter_allgather(Comm& dist, Tensor& tensor, int src);

}  // namespace rankbox
