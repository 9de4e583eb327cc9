// Broadcast along a ring: every rank receives the tensor from the previous rank and sends it to the
// next one.
//
//   p = 4, src = 1       rank 1    rank 2    rank 3    rank 0
//   before               x         ·         ·         ·
//   step 0               x ──────▶ x         ·         ·
//   step 1               x         x ──────▶ x         ·
//   step 2               x         x         x ──────▶ x    the ring is not closed
//
// Whole tensors, one hop at a time, take as long as one to all. Yet no rank sends more than once,
// and only to its neighbour: cut into segments (broadcast_ring_pipelined) it becomes the fastest of
// all for large tensors.
//
// Cost: (p-1)(α + nβ) for a tensor of n bytes.
// Blocks: until the previous rank has the tensor, and until the next one has taken it.
// Difficulty 2/5. Importance 3/5.
// Paper: Pješivac-Grbović, Angskun, Bosilca, Fagg, Gabriel and Dongarra, Performance analysis of
// MPI collective operations, Cluster Computing 10 (2007), where this is a chain of one segment.
#pragma once

#include "comm/comm.h"

namespace rankbox {

/// `tensor` becomes that of src on every rank.
///
/// REQUIRES: every rank calls it with the same src and a tensor of the same size.
/// Errors: InvalidArgument if there is no rank src; MessageMismatch if the sizes differ.
void broadcast_ring(Comm& dist, Tensor& tensor, int src);

}  // namespace rankbox
