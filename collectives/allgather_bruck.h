// Bruck's all-gather: what a rank holds doubles every round, for every p.
//
// Each rank keeps its blocks in the order me, me+1, me+2, … (mod p). While it holds `have` blocks,
// it sends them to the rank `have` before it, and receives the blocks that continue its own row
// from the rank `have` after it.
//
//   p = 5     rank 0       rank 1       rank 2       rank 3       rank 4
//   before    0            1            2            3            4
//   have 1    0 1          1 2          2 3          3 4          4 0
//   have 2    0 1 2 3      1 2 3 4      2 3 4 0      3 4 0 1      4 0 1 2
//   have 4    0 1 2 3 4    1 2 3 4 0    2 3 4 0 1    3 4 0 1 2    4 0 1 2 3    the last one only
//   after     0 1 2 3 4    0 1 2 3 4    0 1 2 3 4    0 1 2 3 4    0 1 2 3 4    rotated, locally
//
// It needs the fewest rounds and the fewest bytes possible, at once. The price is a second buffer,
// its rotation, and messages to ranks far away, which share links on a real network.
//
// Cost: ⌈log2 p⌉ α + (p-1) n β for tensors of n bytes.
// Blocks: until the blocks of all ranks have arrived.
// Difficulty 4/5. Importance 2/5.
// Paper: Bruck, Ho, Kipnis, Upfal and Weathersby, Efficient algorithms for all-to-all
// communications in multiport message-passing systems, IEEE TPDS 8 (1997).
#pragma once

#include "comm/comm.h"

namespace rankbox {

/// `gathered` on every rank becomes rank 0's tensor, then rank 1's, and so on.
///
/// REQUIRES: every rank calls it with tensors of one size, N; gathered has world_size x N elements.
/// Errors: InvalidArgument or MessageMismatch if a size differs.
void allgather_bruck(Comm& dist, const Tensor& tensor, Tensor& gathered);

}  // namespace rankbox
