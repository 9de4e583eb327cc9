// A layer of experts, for the exercises about it: its tokens, scores and matrices, and which rows
// go where.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "comm/tensor.h"
#include "judge/case.h"
#include "judge/experts/router.h"
#include "judge/traffic.h"

namespace rankbox {

/// Counts of cases in which all scores are equal: the first expert gets all first choices.
inline constexpr std::int64_t kToOneExpert = 3;

/// A token's row for an expert.
struct Routed {
  std::int64_t token;
  int expert;
  float gate;
};

enum class Order { kChoices, kTokens };

/// The count of a case is the mean of the ranks' tokens. Some ranks have none, and in most cases
/// some experts get none.
struct MoeLayer {
  int world_size = 1;
  std::int64_t count = 0, experts = 1, width = 1;
  int k = 1;
  std::int64_t capacity = std::numeric_limits<std::int64_t>::max();
  /// The rows whose products with the router's are the scores; null: scores are drawn.
  const char* scored = nullptr;

  std::int64_t experts_of_rank() const { return experts / world_size; }
  std::int64_t tokens(int rank) const {
    return tokens_of_uneven(count * world_size, rank, world_size);
  }
  Tensor scores(int rank) const;                              // [tokens, experts]
  std::vector<float> router() const;                          // [experts, width]
  std::vector<float> rows(const char* name, int rank) const;  // "x", "dy": [tokens, width]
  std::vector<float> weight(std::int64_t expert) const;       // [width, width]
  Tensor weights(int rank) const;                             // of its experts

  /// Returns the rows of a rank that are not dropped; by mistake, with those of all choices of a
  /// token before the next token.
  std::vector<Routed> routed(int rank, Order order = Order::kChoices) const;
  Traffic traffic() const;
};

/// With one choice a token, and no capacity.
MoeLayer moe_layer_of(const Case& example);

}  // namespace rankbox
