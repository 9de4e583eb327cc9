// Broadcast, one to all: src sends the tensor to every other rank, one after the other.
//
//   p = 4, src = 0       rank 0    rank 1    rank 2    rank 3
//   before               x         ·         ·         ·
//   step 0               x ──────▶ x         ·         ·
//   step 1               x ────────────────▶ x         ·
//   step 2               x ──────────────────────────▶ x
//
// There is nothing to get wrong, and nothing in parallel: src does all the work while the others,
// once served, stand by. For two ranks there is nothing better.
//
// Cost: (p-1)(α + nβ) for a tensor of n bytes.
// Blocks: src until all others have the tensor, the others until they have it.
// Difficulty 2/5. Importance 3/5.
// Text: Grama, Gupta, Karypis and Kumar, Introduction to Parallel Computing, 2nd edition (2003),
// section 4.1.
#pragma once

#include "comm/comm.h"

namespace rankbox {

/// `tensor` becomes that of src on every rank.
///
/// REQUIRES: every rank calls it with the same src and a tensor of the same size.
/// Errors: InvalidArgument if there is no rank src; MessageMismatch if the sizes differ.
void broadcast_naive(Comm& dist, Tensor& tensor, int src);

}  // namespace rankbox
