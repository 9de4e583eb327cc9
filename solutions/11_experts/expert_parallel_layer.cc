#include "parallel/expert_parallel_layer.h"

#include <memory>
#include <numeric>
#include <utility>

namespace rankbox {

namespace {

using Numbers = std::vector<std::int64_t>;

/// What backward needs of a batch, beside what the router saves.
struct Kept {
  Tensor scores;
  ExpertRows rows;        // of this rank's tokens
  Tensor results;         // what the experts made of them
  Numbers arrived;        // rows of each rank for each of this rank's experts
  Tensor inputs;          // these rows
  Numbers send, receive;  // elements for each rank, and from it
};

/// Elements of each rank's rows, given the rows of experts.
Numbers by_rank(const Numbers& of_experts, int world_size, std::int64_t width) {
  Numbers elements(static_cast<std::size_t>(world_size));
  const std::size_t each = of_experts.size() / elements.size();
  for (std::size_t i = 0; i < of_experts.size(); ++i) elements[i / each] += width * of_experts[i];
  return elements;
}

Tensor exchanged(Comm& dist, const Tensor& rows, const Numbers& send, const Numbers& receive) {
  const std::int64_t width = rows.shape().extents()[1];
  const std::int64_t elements = std::accumulate(receive.begin(), receive.end(), std::int64_t{0});
  Tensor arrived({elements / width, width});
  dist.all_to_all_v(rows, send, arrived, receive);
  return arrived;
}

void forward(Comm& dist, ExpertLayer& layer, Tensor& tensor, Saved& saved) {
  const std::int64_t width = tensor.shape().extents()[1];
  Kept kept;

  // 1. The rows of each expert.
  kept.scores = layer.router.forward(tensor, saved);
  const std::int64_t experts = kept.scores.shape().extents()[1];
  kept.rows = rows_by_expert(choose_experts(kept.scores, layer.k), layer.k, experts);

  // 2. How many come from each rank.
  TensorOf<std::int64_t> arriving(experts);
  dist.all_to_all(from_host(kept.rows.counts), arriving);
  kept.arrived = to_host(arriving);
  kept.send = by_rank(kept.rows.counts, dist.world_size(), width);
  kept.receive = by_rank(kept.arrived, dist.world_size(), width);

  // 3. and 4. There and back.
  kept.inputs = exchanged(dist, rows_at(tensor, kept.rows.tokens), kept.send, kept.receive);
  const Tensor made = apply_experts(kept.inputs, kept.arrived, layer.weights.value);
  kept.results = exchanged(dist, made, kept.receive, kept.send);
  tensor = zeros(tensor.shape());
  add_rows_at(tensor, kept.results, kept.rows.tokens, kept.rows.gates);
  saved.push(std::make_shared<Kept>(std::move(kept)));
}

void backward(Comm& dist, ExpertLayer& layer, Tensor& tensor, Saved& saved) {
  const auto kept = std::static_pointer_cast<Kept>(saved.pop_object());
  const ExpertRows& rows = kept->rows;

  // 5. The derivatives by the results and the gates.
  const Tensor of_rows = rows_at(tensor, rows.tokens);
  const std::vector<float> by_gates = row_products(of_rows, kept->results);
  Numbers in_order(rows.tokens.size());
  std::iota(in_order.begin(), in_order.end(), 0);
  Tensor by_results = zeros(of_rows.shape());
  add_rows_at(by_results, of_rows, in_order, rows.gates);

  // 6. and 7. There and back.
  Tensor there = exchanged(dist, by_results, kept->send, kept->receive);
  there = apply_experts_backward(kept->inputs, kept->arrived, layer.weights.value, there,
                                 gradient_of(layer.weights));
  const Tensor back = exchanged(dist, there, kept->receive, kept->send);

  // 8. The router: this batch's gradient alone is a share.
  Parameter& router = layer.router.weight;
  const Tensor before = std::exchange(router.gradient, {});
  tensor = layer.router.backward(scores_backward(kept->scores, rows, by_gates), saved);
  add_rows_at(tensor, back, rows.tokens, std::vector<float>(rows.tokens.size(), 1));
  dist.all_reduce(gradient_of(router));
  if (!before.empty()) router.gradient += before;
}

}  // namespace

void expert_parallel_layer(Comm& dist, ExpertLayer& layer, Direction direction, Tensor& tensor,
                           Saved& saved) {
  if (direction == Direction::kForward)
    forward(dist, layer, tensor, saved);
  else
    backward(dist, layer, tensor, saved);
}

}  // namespace rankbox
