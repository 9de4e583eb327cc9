#include "parallel/moe_dispatch_combine.h"

#include <numeric>
#include <vector>

namespace rankbox {

namespace {

using Numbers = std::vector<std::int64_t>;

std::int64_t sum_of(const Numbers& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

/// Elements of each rank's rows, given the rows of experts: as many of them for each rank.
Numbers by_rank(const Numbers& of_experts, int world_size, std::int64_t width) {
  Numbers elements(static_cast<std::size_t>(world_size));
  const std::size_t each = of_experts.size() / elements.size();
  for (std::size_t i = 0; i < of_experts.size(); ++i) elements[i / each] += width * of_experts[i];
  return elements;
}

}  // namespace

void moe_dispatch_combine(Comm& dist, const Tensor& x, const Tensor& scores, const Tensor& weights,
                          int k, std::int64_t capacity, Tensor& y) {
  const int p = dist.world_size();
  const std::int64_t tokens = x.shape().extents()[0], width = x.shape().extents()[1];
  const auto experts = static_cast<std::size_t>(scores.shape().extents()[1]);

  // 1. The tokens of each expert, and their gates.
  const Choices choices = choose_experts(scores, k);
  std::vector<Numbers> tokens_of(experts);
  std::vector<std::vector<float>> gates_of(experts);
  for (int j = 0; j < k; ++j) {
    for (std::int64_t token = 0; token < tokens; ++token) {
      const auto at = static_cast<std::size_t>(token * k + j);
      const auto expert = static_cast<std::size_t>(choices.experts[at]);
      if (std::ssize(tokens_of[expert]) == capacity) continue;
      tokens_of[expert].push_back(token);
      gates_of[expert].push_back(choices.gates[at]);
    }
  }
  Numbers order, counts;
  std::vector<float> gates;
  for (std::size_t e = 0; e < experts; ++e) {
    counts.push_back(std::ssize(tokens_of[e]));
    order.insert(order.end(), tokens_of[e].begin(), tokens_of[e].end());
    gates.insert(gates.end(), gates_of[e].begin(), gates_of[e].end());
  }

  // 2. How many rows each rank has for each of this rank's experts.
  TensorOf<std::int64_t> arriving(static_cast<std::int64_t>(experts));
  dist.all_to_all(from_host(counts), arriving);
  const Numbers arrived = to_host(arriving);

  // 3. The rows.
  const Numbers send = by_rank(counts, p, width), receive = by_rank(arrived, p, width);
  Tensor rows({sum_of(arrived), width});
  dist.all_to_all_v(rows_at(x, order), send, rows, receive);

  // 4. The experts.
  rows = apply_experts(rows, arrived, weights);

  // 5. Back, in the order in which they left.
  Tensor back({sum_of(counts), width});
  dist.all_to_all_v(rows, receive, back, send);

  // 6. A sum for each token.
  y = zeros(x.shape());
  add_rows_at(y, back, order, gates);
}

}  // namespace rankbox
