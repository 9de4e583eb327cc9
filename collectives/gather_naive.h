// Gather, all to one: dst receives from each rank in turn.
//
//                        rank 0   rank 1   rank 2 (dst)   rank 3
//   before   tensor      A        B        C              D
//   after    gathered    ·        ·        A B C D        ·          in rank order, for any dst
//
//   0 ──┐
//   1 ──┼──▶ dst         p-1 messages, and a single port to receive them: one after the other
//   3 ──┘
//
// It sends nothing that is not needed, so nothing beats it for large tensors; for small ones, p-1
// latencies hurt.
//
// Cost: (p-1)(α + nβ) for tensors of n bytes.
// Blocks: a rank other than dst until dst has its tensor; dst until all are there.
// Difficulty 2/5. Importance 2/5.
// Text: the MPI standard defines what MPI_Gather does as just these sends and receives.
#pragma once

#include "comm/comm.h"

namespace rankbox {

/// `gathered` on dst becomes rank 0's tensor, then rank 1's, and so on; elsewhere it is left alone.
///
/// REQUIRES: every rank calls it with the same dst and tensors of one size, N; gathered has
/// world_size x N elements on dst, and may be empty elsewhere.
/// Errors: InvalidArgument if there is no rank dst or gathered has another size; MessageMismatch if
/// the tensors' sizes differ.
void gather_naive(Comm& dist, const Tensor& tensor, Tensor& gathered, int dst);

}  // namespace rankbox
