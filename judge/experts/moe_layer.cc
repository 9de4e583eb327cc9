#include "judge/experts/moe_layer.h"

#include <numeric>

#include "parallel/routing.h"

namespace rankbox {

Tensor MoeLayer::scores(int rank) const {
  const Shape shape = {tokens(rank), experts};
  if (count == kToOneExpert) return zeros(shape);
  if (scored != nullptr) {
    const std::vector<float> x = rows(scored, rank), r = router();
    std::vector<float> sums;
    for (std::int64_t i = 0; i < shape.elements(); ++i) {
      const std::int64_t token = i / experts * width, expert = i % experts * width;
      sums.push_back(std::inner_product(x.begin() + token, x.begin() + token + width,
                                        r.begin() + expert, 0.0F));
    }
    return from_host(sums, shape);
  }
  return from_host(halves(random_of("scores", count, rank), shape.elements()), shape);
}

std::vector<float> MoeLayer::router() const {
  if (count == kToOneExpert) return std::vector<float>(static_cast<std::size_t>(experts * width));
  return halves(random_of("router", count, 0), experts * width);
}

std::vector<float> MoeLayer::rows(const char* name, int rank) const {
  return halves(random_of(name, count, rank), tokens(rank) * width);
}

std::vector<float> MoeLayer::weight(std::int64_t expert) const {
  return halves(random_of("weights", count, expert), width * width);
}

Tensor MoeLayer::weights(int rank) const {
  const std::int64_t own = experts_of_rank();
  std::vector<float> all;
  for (std::int64_t e = own * rank; e < own * (rank + 1); ++e) {
    const std::vector<float> one = weight(e);
    all.insert(all.end(), one.begin(), one.end());
  }
  return from_host(all, {own, width, width});
}

std::vector<Routed> MoeLayer::routed(int rank, Order order) const {
  const Choices choices = choose_experts(scores(rank), k);
  const std::int64_t number = tokens(rank);
  std::vector<Routed> all;
  std::vector<std::int64_t> taken(static_cast<std::size_t>(experts));
  for (std::int64_t i = 0; i < number * k; ++i) {
    const bool by_token = order == Order::kTokens;
    const std::int64_t token = by_token ? i / k : i % number;
    const std::int64_t j = by_token ? i % k : i / number;
    const auto at = static_cast<std::size_t>(token * k + j);
    const int expert = choices.experts[at];
    if (++taken[static_cast<std::size_t>(expert)] > capacity) continue;
    all.push_back({token, expert, choices.gates[at]});
  }
  return all;
}

Traffic MoeLayer::traffic() const {
  Traffic all = {world_size,
                 std::vector<std::int64_t>(static_cast<std::size_t>(world_size * world_size))};
  for (int src = 0; src < world_size; ++src) {
    for (const Routed& row : routed(src))
      ++all.rows[static_cast<std::size_t>(src * world_size + row.expert / experts_of_rank())];
  }
  return all;
}

MoeLayer moe_layer_of(const Case& example) {
  const std::int64_t count = *example.count;
  return {.world_size = example.world_size,
          .count = count,
          .experts = example.world_size * (1 + count % 2),
          .width = 1 + count % 4};
}

}  // namespace rankbox
