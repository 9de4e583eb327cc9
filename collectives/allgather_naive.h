// All-gather through rank 0: all to one, then one to all.
//
//                        rank 0     rank 1     rank 2
//   before   tensor      A          B          C
//   gather   gathered    A B C      ·          ·           gather_naive to rank 0
//   after    gathered    A B C      A B C      A B C       broadcast_naive from rank 0
//
// Rank 0 does all the work while the others wait, and it sends p tensors p-1 times, although each
// receiver already has one of them. It is right, short, and the time to beat.
//
// Cost: 2(p-1) α + (p-1)(p+1) n β for tensors of n bytes.
// Blocks: until rank 0 has served this rank; rank 0 until it has served all.
// Difficulty 1/5. Importance 2/5.
#pragma once

#include "comm/comm.h"

namespace rankbox {

/// `gathered` on every rank becomes rank 0's tensor, then rank 1's, and so on.
///
/// REQUIRES: every rank calls it with tensors of one size, N; gathered has world_size x N elements.
/// Errors: InvalidArgument or MessageMismatch if a size differs.
void allgather_naive(Comm& dist, const Tensor& tensor, Tensor& gathered);

}  // namespace rankbox
