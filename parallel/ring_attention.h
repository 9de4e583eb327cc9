// ring_attention: attention over a sequence that no rank holds: keys and values go round.
//
// Rank r has the queries, keys and values of its tokens, a block. A query needs the keys and values
// of all tokens, so the blocks travel around the ring, and queries stay. After p - 1 steps each
// rank has seen every block once, and has held two at a time.
//
//   p = 4, its kv block      rank 0    rank 1    rank 2    rank 3
//   step 0                     0         1         2         3       q meets the rank's block,
//   step 1                     3         0         1         2       the block goes to next,
//   step 2                     2         3         0         1       and that of prev comes
//   step 3                     1         2         3         0       nothing travels any more
//
// Softmax divides by a sum over all keys, and each step knows one block's. So every step makes a
// part, attend_block(dist, q, kv), and parts are merged: rescale both to the larger maximum, then
// sums and weighted values add up (parallel/attend_block.h). Only the end divides. Without the
// maximum a score of 100 would overflow; without rescaling, parts would count at different scales.
//
// A block that is sent must not change, and it is also what attend_block reads meanwhile: both only
// read. What comes in needs a second tensor. Blocks may differ by one token, and may have none:
// tokens_of() says how many a rank has, empty_kv() makes the tensor to receive into. Every step is
// a message, also an empty one.
//
// Messages travel while blocks are computed. With c = attention_seconds() of one block and m =
// α + nβ for its n bytes, and p dividing the length:
//
//   (p - 1) max(c, m) + c       instead of (p - 1) (c + m) + c
//
// Build on attend_block, rescale, maximum, normalized, dist.isend and dist.irecv.
//
// Cost: (p-1)(α + nβ), n = the bytes of ⌈length / p⌉ tokens' keys and values, to the next rank.
// Memory: two blocks of keys and values, and parts of the size of q. Neither the keys and values of
// all tokens, nor the scores.
// Blocks: until all blocks have passed this rank.
// Difficulty 3/5. Importance 4/5.
// Paper: Liu, Zaharia, Abbeel, Ring Attention with blockwise transformers for near-infinite
// context, 2023.
#pragma once

#include <cstdint>

#include "comm/comm.h"
#include "parallel/attend_block.h"

namespace rankbox {

/// y becomes softmax(q kᵀ / √width) v for this rank's queries, over the keys and values of all
/// ranks' tokens.
///
/// @param q [tokens, heads, width], this rank's tokens_of(length, rank, world_size)
/// @param kv [2, tokens, heads, width]: their keys, then their values
/// @param length the tokens of all ranks together
/// @param y of q's shape
/// REQUIRES: every rank calls it with the same length, heads and width.
void ring_attention(Comm& dist, const Tensor& q, const Tensor& kv, std::int64_t length, Tensor& y);

}  // namespace rankbox
