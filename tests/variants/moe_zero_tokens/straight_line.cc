// Without Variables: forward and backward are one straight line, and gates are applied by the rows.
#include <numeric>

#include "parallel/moe_zero_tokens.h"

namespace rankbox {

namespace {

using Numbers = std::vector<std::int64_t>;

std::int64_t sum_of(const Numbers& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

/// Both directions of an exchange of rows.
struct Route {
  Comm& dist;
  std::int64_t width;
  Numbers there, back;

  Tensor send(const Tensor& rows) const { return move(rows, there, back); }
  Tensor send_back(const Tensor& rows) const { return move(rows, back, there); }

 private:
  Tensor move(const Tensor& rows, const Numbers& out, const Numbers& in) const {
    Tensor arrived({sum_of(in) / width, width});
    dist.all_to_all_v(rows, out, arrived, in);
    return arrived;
  }
};

}  // namespace

void moe_zero_tokens(Comm& dist, const Tensor& x, const Tensor& scores, const Tensor& weights,
                     const Tensor& dy, Tensor& y, Tensor& dx, Tensor& dweights,
                     std::vector<std::int64_t>& loads) {
  const std::int64_t h = x.shape().extents()[1], own = weights.shape().extents()[0];
  const auto p = static_cast<std::size_t>(dist.world_size());
  const Choices choices = choose_experts(scores, 1);
  Numbers counts(static_cast<std::size_t>(own) * p), order;
  for (std::size_t e = 0; e < counts.size(); ++e) {
    for (std::size_t t = 0; t < choices.experts.size(); ++t) {
      if (choices.experts[t] != static_cast<int>(e)) continue;
      order.push_back(static_cast<std::int64_t>(t));
      ++counts[e];
    }
  }
  TensorOf<std::int64_t> arriving(own * dist.world_size());
  dist.all_to_all(from_host(counts), arriving);
  const Numbers arrived = to_host(arriving);
  Route route = {dist, h, Numbers(p), Numbers(p)};
  for (std::size_t e = 0; e < counts.size(); ++e) {
    route.there[e / static_cast<std::size_t>(own)] += h * counts[e];
    route.back[e / static_cast<std::size_t>(own)] += h * arrived[e];
  }
  Numbers all(choices.experts.size());
  std::iota(all.begin(), all.end(), 0);
  const std::vector<float> ones(all.size(), 1);

  const Tensor rows = route.send(rows_at(x, order));
  const Tensor results = route.send_back(apply_experts(rows, arrived, weights));
  Tensor outputs = zeros(x.shape());
  add_rows_at(outputs, results, order, ones);
  y = zeros(x.shape());
  add_rows_at(y, outputs, all, choices.gates);

  Tensor scaled = zeros(x.shape());
  add_rows_at(scaled, dy, all, choices.gates);
  const Tensor derivatives = route.send(rows_at(scaled, order));
  dweights = zeros(weights.shape());
  const Tensor of_rows = apply_experts_backward(rows, arrived, weights, derivatives, dweights);
  dx = zeros(x.shape());
  add_rows_at(dx, route.send_back(of_rows), order, ones);

  TensorOf<std::int64_t> total = from_host(counts);
  dist.all_reduce(total, ReduceOp::SUM);
  loads = to_host(total);
}

}  // namespace rankbox
