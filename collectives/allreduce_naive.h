// All-reduce, all to one to all: rank 0 reduces, then broadcasts, both the naive way.
//
//   p = 4                rank 0    rank 1    rank 2    rank 3
//   before               a         b         c         d
//   reduce_naive         abcd ◀─── b ◀────── c ◀────── d         rank 0 receives three times
//   broadcast_naive      abcd ───▶ abcd ───▶ abcd ───▶ abcd      rank 0 sends three times
//
// Rank 0 does everything; the others wait twice. The time grows with the number of ranks, and so
// does the disappointment of anyone who added ranks to become faster.
//
// Cost: 2(p-1)(α + nβ) + (p-1)nγ for tensors of n bytes.
// Blocks: until rank 0 has received from all ranks, and has sent to this one.
// Difficulty 1/5. Importance 3/5.
#pragma once

#include "comm/comm.h"

namespace rankbox {

/// `tensor` on every rank becomes the reduction of all ranks' tensors, the same bits everywhere.
/// AVG: add as SUM, and divide once at the very end (collectives/average.h).
///
/// REQUIRES: every rank calls it with the same op and a tensor of the same size.
/// Errors: MessageMismatch if the sizes differ.
void allreduce_naive(Comm& dist, Tensor& tensor, ReduceOp op);

}  // namespace rankbox
