// Rows are packed while the counts travel, and y is set to zero while they come back.
#include <utility>
#include <vector>

#include "parallel/moe_dispatch_combine.h"

namespace rankbox {

void moe_dispatch_combine(Comm& dist, const Tensor& x, const Tensor& scores, const Tensor& weights,
                          int k, std::int64_t capacity, Tensor& y) {
  const auto p = static_cast<std::size_t>(dist.world_size());
  const std::int64_t h = x.shape().extents().back(), experts = scores.shape().extents().back();
  const Choices choices = choose_experts(scores, k);

  std::vector<std::vector<std::pair<std::int64_t, float>>> rows(static_cast<std::size_t>(experts));
  for (int j = 0; j < k; ++j) {
    for (std::size_t i = static_cast<std::size_t>(j); i < choices.experts.size();
         i += static_cast<std::size_t>(k)) {
      auto& of_expert = rows[static_cast<std::size_t>(choices.experts[i])];
      if (std::ssize(of_expert) < capacity)
        of_expert.emplace_back(static_cast<std::int64_t>(i) / k, choices.gates[i]);
    }
  }
  std::vector<std::int64_t> counts;
  for (const auto& of_expert : rows) counts.push_back(std::ssize(of_expert));
  const auto sent = from_host(counts);
  auto arriving = empty_like(sent);
  const Request of_counts = dist.all_to_all_async(sent, arriving);

  std::vector<std::int64_t> order, out(p), in(p);
  std::vector<float> gates;
  for (std::size_t e = 0; e < rows.size(); ++e) {
    out[e / (rows.size() / p)] += h * counts[e];
    for (const auto& [token, gate] : rows[e]) order.push_back(token), gates.push_back(gate);
  }
  const Tensor leaving = rows_at(x, order);
  dist.wait(of_counts);

  const std::vector<std::int64_t> arrived = to_host(arriving);
  std::int64_t all = 0;
  for (std::size_t i = 0; i < arrived.size(); ++i) {
    in[i / (rows.size() / p)] += h * arrived[i];
    all += arrived[i];
  }
  Tensor here({all, h});
  dist.wait(dist.all_to_all_v_async(leaving, out, here, in));
  const Tensor done = apply_experts(here, arrived, weights);
  Tensor back = empty_like(leaving);
  const Request home = dist.all_to_all_v_async(done, in, back, out);
  y = zeros(x.shape());
  dist.wait(home);
  add_rows_at(y, back, order, gates);
}

}  // namespace rankbox
