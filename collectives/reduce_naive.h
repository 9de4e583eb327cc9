// Reduce, all to one: dst receives every other rank's tensor and adds it to its own.
//
//   p = 4, dst = 0       rank 0    rank 1    rank 2    rank 3
//   before               a         b         c         d
//   step 0               ab ◀───── b         c         d
//   step 1               abc ◀────────────── c         d
//   step 2               abcd ◀─────────────────────── d
//
// where ab stands for a + b, or max(a, b), …
//
// dst receives all bytes and does all additions, alone. It may add in any order; in floating point
// the order matters: (a + b) + c need not be a + (b + c).
//
// Cost: (p-1)(α + nβ + nγ) for tensors of n bytes.
// Blocks: dst until all others have sent, the others until dst has received from them.
// Difficulty 2/5. Importance 2/5.
// Paper: Pješivac-Grbović, Angskun, Bosilca, Fagg, Gabriel and Dongarra, Performance analysis of
// MPI collective operations, Cluster Computing 10 (2007), where this is a flat tree.
#pragma once

#include "comm/comm.h"

namespace rankbox {

/// `tensor` on dst becomes the reduction of all ranks' tensors; elsewhere its contents are lost.
/// AVG: add as SUM, and divide once at the very end (collectives/average.h).
///
/// REQUIRES: every rank calls it with the same dst and op, and a tensor of the same size.
/// Errors: InvalidArgument if there is no rank dst; MessageMismatch if the sizes differ.
void reduce_naive(Comm& dist, Tensor& tensor, int dst, ReduceOp op);

}  // namespace rankbox
