// Stochastic rounding is right on average, and the same for any number of parts.
#include "parallel/stochastic_rounding.h"

#include <algorithm>
#include <cmath>

#include <doctest/doctest.h>

#include "comm/run_ranks.h"

namespace rankbox {
namespace {

/// Returns weights [begin, end) of a model after `steps` steps of 0.001, from 1.
std::vector<float> grown(std::int64_t begin, std::int64_t end, int steps) {
  TensorOf<BFloat16> weights =
      from_host(std::vector<BFloat16>(static_cast<std::size_t>(end - begin), BFloat16(1)));
  const Tensor gradient = full(end - begin, -0.001F);
  for (int step = 0; step < steps; ++step)
    stochastic_rounding(gradient, 1, 42, step, begin, weights);
  const std::vector<BFloat16> values = to_host(weights);
  return {values.begin(), values.end()};
}

/// Every process checks.
RunOptions one_rank_each() {
  return {.world_size = std::max(launch().processes, 1), .trace = false};
}

TEST_CASE("1000 steps of 0.001 grow a BFloat16 weight by 1, on average") {
  constexpr int kWeights = 1024;
  run_ranks(one_rank_each(), [](Comm&) {
    const std::vector<float> weights = grown(0, kWeights, 1000);
    double sum = 0, squares = 0;
    for (const float weight : weights) {
      sum += weight;
      squares += double{weight} * weight;
    }
    const double mean = sum / kWeights;
    const double deviation = std::sqrt(squares / kWeights - mean * mean);
    // A step's variance is f (1 - f) / 128², where f = 0.128 is how often it goes up: after 1000
    // steps the standard deviation is 0.083.
    CHECK(mean == doctest::Approx(2).epsilon(0.01));
    CHECK(deviation == doctest::Approx(0.083).epsilon(0.1));
    return 0;
  });
}

TEST_CASE("any number of parts gives the same weights") {
  run_ranks(one_rank_each(), [](Comm&) {
    const std::vector<float> whole = grown(0, 100, 10);
    for (const std::int64_t parts : {2, 3, 7}) {
      std::vector<float> together;
      for (std::int64_t part = 0; part < parts; ++part) {
        const std::vector<float> own = grown(100 * part / parts, 100 * (part + 1) / parts, 10);
        together.insert(together.end(), own.begin(), own.end());
      }
      CHECK(together == whole);
    }
    return 0;
  });
}

}  // namespace
}  // namespace rankbox
