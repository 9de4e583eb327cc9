// ring_attention_backward: keys and values go round again, and their gradients come home.
//
// The queries of all ranks have met each key. So its gradients dk and dv are sums over all ranks,
// while dq of a rank's queries is a sum over the blocks that it meets, and stays. Blocks travel as
// in ring_attention. What a block's gradients have so far follows it, one step later: a rank's own
// contribution comes first, and the sum of the ranks before arrives while that is computed.
//
//   p = 3                  rank 0                 rank 1                 rank 2
//   step 0   kv here       0                      1                      2
//            dkv           0: own share           1: own share           2: own share
//   step 1   kv here       2                      0                      1
//            dkv           2: from 2, + own       0: from 0, + own       1: from 1, + own
//   step 2   kv here       1                      2                      0
//            dkv           1: from 2, + own       2: from 0, + own       0: from 1, + own
//   home     dkv           0, from rank 2         1, from rank 0         2, from rank 1
//
// attend_block_backward computes one block: with p_ij = e^(s_ij - log_sum_i), the softmax that
// forward computed, and D_i = dy_i · y_i,
//
//   dv_j = Σ_i p_ij dy_i      ds_ij = p_ij (dy_i · v_j - D_i) / √width
//   dq_i = Σ_j ds_ij k_j      dk_j  = Σ_i ds_ij q_i
//
// Only sums: there is no maximum to merge, since log_sum = maximum + log(sum) is of all keys.
//
// Build on attend_block_backward, dist.isend and dist.irecv.
//
// Cost: p - 1 messages of keys and values, and p of their gradients: (2p-1)(α + nβ), n = the bytes
// of ⌈length / p⌉ tokens' keys and values; none for p = 1. With c = attention_backward_seconds()
// of a block, m = α + nβ and p dividing the length: 2 max(c, m) + (p-2) max(c, 2m) + m.
// Memory: two blocks of keys and values, and three of their gradients.
// Blocks: until this rank's gradients are home.
// Difficulty 4/5. Importance 3/5.
// Paper: Liu, Zaharia, Abbeel, Ring Attention with blockwise transformers for near-infinite
// context, 2023.
#pragma once

#include <cstdint>

#include "comm/comm.h"
#include "parallel/attend_block.h"

namespace rankbox {

/// dq and dkv become the derivatives of the loss by this rank's queries, keys and values.
///
/// @param q, kv, length as for ring_attention
/// @param y what forward computed: of q's shape
/// @param log_sum [tokens, heads]: log Σ_j e^(s_ij) over all keys, of this rank's queries
/// @param dy the derivative of the loss by y
/// @param dq of q's shape
/// @param dkv of kv's shape
/// REQUIRES: every rank calls it with the same length, heads and width.
void ring_attention_backward(Comm& dist, const Tensor& q, const Tensor& kv, const Tensor& y,
                             const Tensor& log_sum, const Tensor& dy, std::int64_t length,
                             Tensor& dq, Tensor& dkv);

}  // namespace rankbox
