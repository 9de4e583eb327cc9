// All-to-all, pairwise: every rank has a different message for every other rank; a transpose of the
// world.
//
//                        rank 0        rank 1        rank 2
//   before   input       a0 a1 a2      b0 b1 b2      c0 c1 c2     x1: from rank x for rank 1
//   after    output      a0 b0 c0      a1 b1 c1      a2 b2 c2     in the order of the senders
//
// Nothing can be combined or passed along, so the order is everything. If all ranks began with rank
// 0, it would be flooded and the others idle. Instead, in step k each rank sends to rank + k and
// receives from rank - k: in every step each rank sends one message and receives one, without
// conflicts.
//
//   p = 4   step 1   0→1  1→2  2→3  3→0
//           step 2   0→2  1→3  2→0  3→1
//           step 3   0→3  1→0  2→1  3→2
//
// Cost: (p-1)(α + mβ), where m is the bytes of the largest chunk: ⌈N/p⌉ elements of an input of N.
// Blocks: until this rank has exchanged messages with all others.
// Difficulty 2/5. Importance 3/5.
// Paper: Thakur, Rabenseifner and Gropp, Optimization of collective communication operations in
// MPICH, IJHPCA 19 (2005).
#pragma once

#include "comm/comm.h"

namespace rankbox {

/// chunk(input, d, world_size) of rank s becomes chunk(output, s, world_size) of rank d.
///
/// REQUIRES: every rank calls it with inputs of one size; output has world_size x chunk(input,
/// rank, world_size).size() elements, and is not the same tensor as input.
/// Errors: InvalidArgument or MessageMismatch if a size differs.
void alltoall_pairwise(Comm& dist, const Tensor& input, Tensor& output);

}  // namespace rankbox
