// A sequence for the exercises about long ones: its queries, keys and values, attention to them on
// one device, and the memory that a rank may hold.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "comm/tensor.h"
#include "judge/case.h"
#include "judge/subject.h"
#include "judge/training/known_mistakes.h"

namespace rankbox {

/// Numbers of tokens, in the order in which a tensor has them.
using Tokens = std::vector<std::int64_t>;
Tokens tokens_between(std::int64_t begin, std::int64_t end);

struct SequenceShape {
  std::int64_t length = 0;  // tokens
  std::int64_t heads = 0;
  std::int64_t width = 0;

  std::int64_t row() const { return heads * width; }  // elements of a token's q, k or v
};

/// q, k, v and dy of all tokens: [length, heads, width] each, in host memory. Scores of narrow
/// heads are exact.
struct Sequence {
  SequenceShape shape;
  std::vector<float> q = {}, k = {}, v = {}, dy = {};
};

/// @param may_overflow where the length is odd, scores are so large that e^score overflows
Sequence sequence_of(const SequenceShape& shape, bool may_overflow = true);

/// Returns the cases of rings whose blocks may differ by a token.
std::vector<Case> cases_of_ring();

/// Returns the tokens that a rank has of a sequence, in order.
Tokens tokens_of_rank(std::int64_t length, int rank, int world_size);

/// Returns the shape of a case of the rings, whose count is the length.
SequenceShape shape_of_ring(const Case& example);

/// Returns these tokens' rows [tokens, heads, width] of q, k or v.
Tensor rows_of(const Sequence& sequence, const std::vector<float>& all, const Tokens& tokens);

/// Returns these tokens' keys and values, [2, tokens, heads, width].
Tensor kv_of(const Sequence& sequence, const Tokens& tokens);

/// Attention on one device, in double precision.
struct AttentionAlone {
  const Sequence& sequence;
  std::vector<Tokens> blocks;  // of keys and values
  bool is_causal = false;      // tokens attend to themselves and those before

  /// Returns y of these queries; by mistake, without rescaling the blocks' parts.
  Tensor y_of(const Tokens& queries, bool rescales = true) const;
};

/// Compares one tensor. Mistakes are `named`, too.
std::optional<Difference> compare_named(const char* name, const Tensor& actual,
                                        const Tensor& expected,
                                        const std::vector<Mistake>& mistakes,
                                        const Hint& otherwise);
std::vector<NamedTensor> named(const char* name, Tensor tensor);

inline std::optional<Difference> compare_y(const Tensor& y, const Tensor& expected,
                                           const std::vector<Mistake>& mistakes,
                                           const Hint& otherwise) {
  return compare_named("y", y, expected, mistakes, otherwise);
}
inline std::vector<NamedTensor> named_y(Tensor y) { return named("y", std::move(y)); }

/// Length of the cases of rings that limit memory, in worlds of kRanksOfMemory; and of the large
/// one.
inline constexpr int kRanksOfMemory = 8;
inline constexpr std::int64_t kWideLength = 256;
inline constexpr std::int64_t kLargeLength = 16;

/// Calls the function. Returns how it exceeds `peak` bytes besides its arguments, or keeps bytes.
/// Where libraries hold memory, too, it returns nothing.
std::optional<Difference> excess_of_memory(std::int64_t peak, const Hint& hint,
                                           const std::function<void()>& call);

}  // namespace rankbox
