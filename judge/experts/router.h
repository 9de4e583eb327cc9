// Tokens and scores for the exercises about routers.
#pragma once

#include <cstdint>
#include <vector>

#include "comm/tensor.h"
#include "judge/salt.h"

namespace rankbox {

/// Numbers from -1 to 1, multiples of 1/2: scores are often equal, and sums exact.
inline std::vector<float> halves(Random random, std::int64_t count) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; ++i)
    values.push_back(static_cast<float>(random.below(5) - 2) / 2);
  return values;
}

/// How many of the tokens a rank has: each another number, and the first few often none.
inline std::int64_t tokens_of_uneven(std::int64_t all, int rank, int world_size) {
  const auto begin = [&](std::int64_t r) { return all * r * r / (world_size * world_size); };
  return begin(rank + 1) - begin(rank);
}

inline Random random_of(const char* use, std::int64_t number, std::int64_t rank) {
  return salted(use)
      .stream(static_cast<std::uint64_t>(number))
      .stream(static_cast<std::uint64_t>(rank));
}

/// Returns a rank's scores, [tokens, experts].
inline Tensor scores_of(std::int64_t number, int rank, std::int64_t tokens, std::int64_t experts) {
  return from_host(halves(random_of("scores", number, rank), tokens * experts), {tokens, experts});
}

}  // namespace rankbox
