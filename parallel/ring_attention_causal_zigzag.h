// ring_attention_causal_zigzag: a ring with a causal mask, in which all ranks work equally long.
//
// With a causal mask a token attends to itself and to those before it. If rank r had block r of p,
// it would need r + 1 blocks: the last rank would work about p times as long as the first, and all
// wait for it. So the sequence is cut into 2p chunks, and rank r has an early and a late one, r and
// 2p - 1 - r. Chunk a meets chunk b of keys if b is earlier, half of it if a = b, else not at all:
//
//   p = 2, chunks 0 to 3        queries of rank 0    queries of rank 1
//                               0       3            1       2
//   step 0, own keys            ½       0 ½          ½       1 ½       0 3 and 1 2
//   step 1, the other's keys    –       1 2          0       0         1 2 and 0 3
//                               ──────────           ──────────
//                               two blocks a step    two blocks a step
//
// (Numbers are the chunks of keys that the queries above meet.) In every later step, two pairs of
// chunks are computed on every rank, whoever sent the keys: early keys against both chunks of
// queries, or both chunks of keys against the late queries. Which, is decided by positions alone:
// compare the numbers of the chunks.
//
// The early and the late queries have met different keys, so each has its own part to merge.
//
// kv has the keys and values of the early chunk, then those of the late one, and goes round as in
// ring_attention: one message a step, while blocks are computed. row_part(kv, 0, 2) is the early
// half (parallel/layer_shards.h).
//
// Build on attend_block with Mask::kCausal where a chunk meets itself, and on what ring_attention
// is built on.
//
// Cost: (p-1)(α + nβ), n = the bytes of both chunks' keys and values. With chunks of t tokens, a
// and c = attention_seconds() of 2t² + t and of 2t² pairs, and m = α + nβ:
// max(a, m) + (p-2) max(c, m) + c; a, if p = 1.
// Memory: as ring_attention, and copies of the chunks at work.
// Blocks: until all blocks have passed this rank.
// Difficulty 4/5. Importance 4/5.
// Paper: Llama Team, The Llama 3 herd of models, 2024, section 3.3.2 (the cut); Brandon et al.,
// Striped attention, 2023 (another one).
#pragma once

#include <cstdint>

#include "comm/comm.h"
#include "parallel/attend_block.h"
#include "parallel/layer_shards.h"

namespace rankbox {

/// y becomes the causal attention of this rank's queries: softmax(q kᵀ / √width) v over the keys of
/// the same token and of those before it, on whichever rank.
///
/// @param q [2 · chunk, heads, width]: chunk `rank`, then chunk 2p - 1 - rank, each of
/// zigzag_chunk(length, p) tokens
/// @param kv [4, chunk, heads, width]: keys and values of the first chunk, then of the other
/// @param length the tokens of all ranks together
/// @param y of q's shape
/// REQUIRES: every rank calls it with the same length, heads and width.
/// Errors: InvalidArgument, from zigzag_chunk, if 2p does not divide the length.
void ring_attention_causal_zigzag(Comm& dist, const Tensor& q, const Tensor& kv,
                                  std::int64_t length, Tensor& y);

}  // namespace rankbox
