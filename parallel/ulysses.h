// ulysses: attention over a sequence that no rank holds: heads are exchanged for tokens.
//
// Rank r has its tokens, with all heads. But heads need nothing of each other: a rank that has some
// whole heads, of all tokens, computes their attention by itself. One all-to-all turns the first
// cut into the second; after attention, another one turns it back.
//
//   p = 2, 4 tokens, 4 heads      before             during              after
//                                 tokens × heads     tokens × heads      tokens × heads
//   rank 0                        0 1 × 0 1 2 3      0 1 2 3 × 0 1       0 1 × 0 1 2 3
//   rank 1                        2 3 × 0 1 2 3      0 1 2 3 × 2 3       2 3 × 0 1 2 3
//
// all_to_all sends chunk d of its input to rank d. A row of q has all heads of one token, so the
// heads for rank d lie apart: swapped() brings them together. What arrives is in the order of the
// ranks, and so of the tokens: nothing is to be swapped. On the way back it is the other way round.
//
//   [tokens, p, heads / p · width] → swapped → [p, tokens, heads / p · width] → all_to_all
//
// All ranks have as many tokens, and p divides the heads: heads_of_rank() refuses others.
//
// Build on dist.all_to_all, swapped, attend_block and normalized.
//
// Cost: four native all-to-alls of tokens · heads · width elements: q, k, v, and y.
// Memory: as many elements of q, k, v and y as before, of which other ranks made most.
// Blocks: until all ranks have called it.
// Difficulty 3/5. Importance 4/5.
// Paper: Jacobs et al., DeepSpeed Ulysses, 2023.
#pragma once

#include "comm/comm.h"
#include "parallel/attend_block.h"

namespace rankbox {

/// y becomes softmax(q kᵀ / √width) v for this rank's queries, over the keys and values of all
/// ranks' tokens.
///
/// @param q, k, v [tokens, heads, width] of this rank's tokens: rank r has the r-th of p parts
/// @param y of q's shape
/// REQUIRES: every rank calls it with as many tokens, heads and width.
/// Errors: InvalidArgument, from heads_of_rank, if p does not divide the heads.
void ulysses(Comm& dist, const Tensor& q, const Tensor& k, const Tensor& v, Tensor& y);

}  // namespace rankbox
