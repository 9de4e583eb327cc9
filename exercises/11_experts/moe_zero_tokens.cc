#include "parallel/moe_zero_tokens.h"

#include <functional>
#include <numeric>
#include <utility>

// TODO: this layer is right as long as every rank has tokens, and every expert gets some. Run it:
// which collective does a rank leave out, and what made it do so? There are three places, one behind
// the other. Values must stay as they are.
namespace rankbox {

namespace {

using Numbers = std::vector<std::int64_t>;

/// Rows of the layer, and a function from their derivative to that of the layer's input.
struct Variable {
  Tensor rows;
  std::function<Tensor(const Tensor& derivative)> backward;
};

/// Elements of each rank's rows, given the rows of experts.
Numbers by_rank(const Numbers& of_experts, int world_size, std::int64_t width) {
  Numbers elements(static_cast<std::size_t>(world_size));
  const std::size_t each = of_experts.size() / elements.size();
  for (std::size_t i = 0; i < of_experts.size(); ++i) elements[i / each] += width * of_experts[i];
  return elements;
}

/// Rows go to other ranks; their derivatives come back.
Variable exchanged(Comm& dist, const Variable& from, const Numbers& send, const Numbers& receive) {
  const Shape before = from.rows.shape();
  const std::int64_t width = before.extents()[1];
  const std::int64_t elements = std::accumulate(receive.begin(), receive.end(), std::int64_t{0});
  Tensor arrived({elements / width, width});
  dist.all_to_all_v(from.rows, send, arrived, receive);
  if (!from.backward) return {std::move(arrived), nullptr};
  const auto backward = [=, &dist, next = from.backward](const Tensor& derivative) {
    Tensor back(before);
    dist.all_to_all_v(derivative, receive, back, send);
    return next(back);
  };
  return {std::move(arrived), backward};
}

/// Rows pass their experts; the way back leaves the derivative of the weights.
Variable through_experts(const Variable& from, const Numbers& counts, const Tensor& weights,
                         Tensor& dweights) {
  // Products of matrices without rows are not defined everywhere.
  if (from.rows.empty()) return {Tensor(from.rows.shape()), nullptr};
  const auto backward = [&, counts, rows = from.rows, next = from.backward](const Tensor& dy) {
    return next(apply_experts_backward(rows, counts, weights, dy, dweights));
  };
  return {apply_experts(from.rows, counts, weights), backward};
}

}  // namespace

void moe_zero_tokens(Comm& dist, const Tensor& x, const Tensor& scores, const Tensor& weights,
                     const Tensor& dy, Tensor& y, Tensor& dx, Tensor& dweights,
                     std::vector<std::int64_t>& loads) {
  const int p = dist.world_size();
  const std::int64_t width = x.shape().extents()[1], experts = scores.shape().extents()[1];
  dweights = zeros(weights.shape());
  // A rank without tokens has nothing to send.
  if (x.empty()) {
    y = zeros(x.shape());
    dx = zeros(x.shape());
    loads.assign(static_cast<std::size_t>(experts), 0);
    return;
  }

  // 1. Tokens in the order of their experts.
  const Choices choices = choose_experts(scores, 1);
  Numbers order, counts;
  std::vector<float> gates;
  for (int expert = 0; expert < experts; ++expert) {
    const std::size_t before = order.size();
    for (std::size_t token = 0; token < choices.experts.size(); ++token) {
      if (choices.experts[token] != expert) continue;
      order.push_back(static_cast<std::int64_t>(token));
      gates.push_back(choices.gates[token]);
    }
    counts.push_back(static_cast<std::int64_t>(order.size() - before));
  }
  const Variable rows = {rows_at(x, order), [&](const Tensor& derivative) {
                           Tensor of_tokens = zeros(x.shape());
                           add_rows_at(of_tokens, derivative, order,
                                       std::vector<float>(order.size(), 1));
                           return of_tokens;
                         }};

  // 2. Forward.
  TensorOf<std::int64_t> arriving(experts);
  dist.all_to_all(from_host(counts), arriving);
  const Numbers arrived = to_host(arriving);
  const Numbers send = by_rank(counts, p, width), receive = by_rank(arrived, p, width);
  const Variable there = exchanged(dist, rows, send, receive);
  const Variable done = through_experts(there, arrived, weights, dweights);
  const Variable back = exchanged(dist, done, receive, send);
  y = zeros(x.shape());
  add_rows_at(y, back.rows, order, gates);

  // 3. Backward: gate · dy of each row.
  Numbers in_order(order.size());
  std::iota(in_order.begin(), in_order.end(), 0);
  Tensor derivative = zeros(back.rows.shape());
  add_rows_at(derivative, rows_at(dy, order), in_order, gates);
  dx = back.backward ? back.backward(derivative) : zeros(x.shape());

  // 4. The loads of all experts, for those who balance them.
  TensorOf<std::int64_t> total = from_host(counts);
  if (!there.rows.empty()) dist.all_reduce(total);
  loads = to_host(total);
}

}  // namespace rankbox
