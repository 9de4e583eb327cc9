// Products are still left out where there are no rows, but the input stays in the chain; loads are
// summed while the derivatives come back.
#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "parallel/moe_zero_tokens.h"

namespace rankbox {

namespace {

using Numbers = std::vector<std::int64_t>;
using Backward = std::function<Tensor(const Tensor&)>;

struct Variable {
  Tensor rows;
  Backward backward;
};

Numbers by_rank(const Numbers& of_experts, int world_size, std::int64_t width) {
  Numbers elements(static_cast<std::size_t>(world_size));
  const std::size_t each = of_experts.size() / elements.size();
  for (std::size_t i = 0; i < of_experts.size(); ++i) elements[i / each] += width * of_experts[i];
  return elements;
}

Variable exchanged(Comm& dist, const Variable& from, Numbers send, Numbers receive) {
  const Shape before = from.rows.shape();
  const std::int64_t width = before.extents()[1];
  Tensor arrived({std::accumulate(receive.begin(), receive.end(), std::int64_t{0}) / width, width});
  dist.all_to_all_v(from.rows, send, arrived, receive);
  return {std::move(arrived), [=, &dist, next = from.backward](const Tensor& derivative) {
            Tensor back(before);
            dist.all_to_all_v(derivative, receive, back, send);
            return next(back);
          }};
}

Variable through_experts(Variable from, const Numbers& counts, const Tensor& weights,
                         Tensor& dweights) {
  if (from.rows.empty()) return from;
  Tensor rows = apply_experts(from.rows, counts, weights);
  return {std::move(rows), [&, counts, from](const Tensor& dy) {
            return from.backward(apply_experts_backward(from.rows, counts, weights, dy, dweights));
          }};
}

}  // namespace

void moe_zero_tokens(Comm& dist, const Tensor& x, const Tensor& scores, const Tensor& weights,
                     const Tensor& dy, Tensor& y, Tensor& dx, Tensor& dweights,
                     std::vector<std::int64_t>& loads) {
  const std::int64_t width = x.shape().extents()[1], experts = scores.shape().extents()[1];
  dweights = full(weights.shape(), 0.0F);
  const Choices choices = choose_experts(scores, 1);
  Numbers order(choices.experts.size()), counts(static_cast<std::size_t>(experts));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(
      order, {}, [&](std::int64_t t) { return choices.experts[static_cast<std::size_t>(t)]; });
  std::vector<float> gates, ones(order.size(), 1);
  for (const std::int64_t t : order) {
    gates.push_back(choices.gates[static_cast<std::size_t>(t)]);
    ++counts[static_cast<std::size_t>(choices.experts[static_cast<std::size_t>(t)])];
  }
  TensorOf<std::int64_t> total = from_host(counts), arriving(experts);
  dist.all_to_all(total, arriving);
  const Numbers arrived = to_host(arriving);
  const Numbers send = by_rank(counts, dist.world_size(), width);
  const Numbers receive = by_rank(arrived, dist.world_size(), width);

  const Variable rows = {rows_at(x, order), [&](const Tensor& derivative) {
                           Tensor of_tokens = zeros(x.shape());
                           add_rows_at(of_tokens, derivative, order, ones);
                           return of_tokens;
                         }};
  const Variable back = exchanged(
      dist, through_experts(exchanged(dist, rows, send, receive), arrived, weights, dweights),
      receive, send);
  y = zeros(x.shape());
  add_rows_at(y, back.rows, order, gates);

  Tensor scaled = zeros(x.shape());
  Numbers tokens(order.size());
  std::iota(tokens.begin(), tokens.end(), 0);
  add_rows_at(scaled, dy, tokens, choices.gates);
  dx = back.backward(rows_at(scaled, order));
  const Request request = dist.all_reduce_async(total);
  dist.wait(request);
  loads = to_host(total);
}

}  // namespace rankbox
