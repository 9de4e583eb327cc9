// Attention of some queries to a block of keys and values, and how such parts add up.
//
// Softmax needs the sum over all keys before it can divide. But a part of the sum can be kept
// without dividing, if it says which maximum was subtracted from its scores:
//
//   s_ij = q_i k_j / √width      maximum_i = max_j s_ij      sum_i = Σ_j e^(s_ij - maximum_i)
//                                                       weighted_i = Σ_j e^(s_ij - maximum_i) v_j
//
// Two parts with the same maximum add up: sum to sum, weighted to weighted. rescale() gives a part
// another maximum. After the last block, y_i = weighted_i / sum_i. (Milakov and Gimelshein, Online
// normalizer calculation for softmax, 2018; Dao et al., FlashAttention, NeurIPS 2022.)
//
// Rows of tokens are [heads, width]; every head attends by itself. A block of keys and values is
// one tensor [2, tokens, heads, width], the keys first, so that it travels as one message.
//
// Memory: what attend_block returns, and while it works the scores of one head and of at most 64
// queries.
// Thread safety: as tensors. Errors: InvalidArgument for shapes that do not fit together.
#pragma once

#include <cstdint>

#include "comm/comm.h"

namespace rankbox {

/// The attention of some queries to some keys, not divided yet.
struct AttentionPart {
  Tensor weighted;  // [queries, heads, width]
  Tensor maximum;   // [queries, heads]; -infinity where there are no keys
  Tensor sum;       // [queries, heads]
};

/// Which keys a query attends to.
enum class Mask {
  kNone,    // to all of the block
  kCausal,  // query i to keys 0 … i: they are the same tokens
};

/// Returns the part of these queries and keys. Spends virtual time: attention_seconds().
///
/// @param q [queries, heads, width]
/// @param kv [2, keys, heads, width]
AttentionPart attend_block(Comm& dist, const Tensor& q, const Tensor& kv, Mask mask = Mask::kNone);

/// Gives a part another maximum [queries, heads]: sum and weighted are multiplied by
/// e^(old - new). Parts without keys stay 0.
void rescale(AttentionPart& part, const Tensor& maximum);

/// Returns y [queries, heads, width]: weighted / sum. REQUIRES: there was a key for each query.
Tensor normalized(AttentionPart part);

/// Returns dkv [2, keys, heads, width]: these queries' share of the derivatives by keys and values.
/// Adds to dq what the block contributes. Spends virtual time: attention_backward_seconds().
///
/// @param q, y, dy, dq [queries, heads, width]
/// @param log_sum [queries, heads]: log Σ_j e^(s_ij) over the keys of all blocks
Tensor attend_block_backward(Comm& dist, const Tensor& q, const Tensor& kv, const Tensor& y,
                             const Tensor& log_sum, const Tensor& dy, Tensor& dq);

/// Returns a new tensor [2, tokens, heads, width] with the heads of `kv`.
Tensor empty_kv(const Tensor& kv, std::int64_t tokens);

/// Returns the tensor with its pieces in another order: rows × columns pieces of equal size, one
/// after the other, become columns × rows. Its shape is [columns, rows, size].
Tensor swapped(const Tensor& pieces, std::int64_t rows, std::int64_t columns);

/// Returns heads / world_size, for q [tokens, heads, width]. Throws InvalidArgument if world_size
/// does not divide the heads.
std::int64_t heads_of_rank(const Tensor& q, int world_size);

/// Returns the number of tokens that a rank has of a sequence, in order: r has those from
/// length · r / p up to length · (r + 1) / p.
inline std::int64_t tokens_of(std::int64_t length, int rank, int world_size) {
  return length * (rank + 1) / world_size - length * rank / world_size;
}

/// Returns the tokens of a chunk where a sequence is cut into 2 · world_size of them. Throws
/// InvalidArgument if that does not divide the length.
std::int64_t zigzag_chunk(std::int64_t length, int world_size);

/// Returns the virtual time of this many pairs of a query and a key: of each of these, 4 · width
/// operations per head, at 10 billion a second.
inline double attention_seconds(std::int64_t pairs, std::int64_t heads, std::int64_t width) {
  return 4e-10 * static_cast<double>(pairs * heads * width);
}

/// The same for attend_block_backward, of each of these 10 · width operations.
inline double attention_backward_seconds(std::int64_t pairs, std::int64_t heads,
                                         std::int64_t width) {
  return 2.5 * attention_seconds(pairs, heads, width);
}

}  // namespace rankbox
