// The backward pass of attention to a sequence, on one device.
#pragma once

#include <vector>

#include "judge/long_sequences/sequence.h"

namespace rankbox {

/// Attention of all tokens to all tokens, and the derivatives of a loss whose derivative by y is
/// the sequence's dy. In double precision.
class BackwardAlone {
 public:
  explicit BackwardAlone(const Sequence& sequence);

  Tokens all_tokens() const { return tokens_between(0, sequence_.shape.length); }
  /// log Σ e^score of these queries, [tokens, heads].
  Tensor log_sums_of(const Tokens& queries) const;
  /// What these keys contribute to dq of these queries.
  Tensor dq_of(const Tokens& queries, const Tokens& keys) const;
  /// What these queries contribute to dk and dv of these keys, [2, keys, heads, width].
  Tensor dkv_of(const Tokens& keys, const Tokens& queries) const;

  std::vector<float> y;  // [length, heads, width]

 private:
  std::size_t place(std::int64_t token, std::int64_t head) const {
    return static_cast<std::size_t>(token * sequence_.shape.row() + head * sequence_.shape.width);
  }
  double product(const std::vector<float>& a, std::int64_t of_a, const std::vector<float>& b,
                 std::int64_t of_b, std::int64_t head) const;
  std::size_t row(std::int64_t query, std::int64_t head) const {
    return static_cast<std::size_t>(query * sequence_.shape.heads + head);
  }
  /// A weight of the softmax, and the derivative by its product of q and k.
  struct Pair {
    double weight = 0;
    double derivative = 0;
  };
  Pair pair_of(std::int64_t query, std::int64_t key, std::int64_t head) const;

  const Sequence& sequence_;
  double scale_;
  std::vector<double> log_sums_;  // [length, heads]
  std::vector<double> deltas_;    // [length, heads]: dy · y
  std::vector<double> weights_;   // [length, heads, length] of the softmax
};

}  // namespace rankbox
