// Rows are packed while the counts travel; the router works while derivatives do.
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "parallel/expert_parallel_layer.h"

namespace rankbox {

namespace {

using Numbers = std::vector<std::int64_t>;

struct Batch {
  Tensor x, scores, results, inputs;
  ExpertRows rows;
  Numbers arrived, out, in;
};

struct Travel {
  Tensor leaving, arriving;
  Request request;
};

std::unique_ptr<Travel> start(Comm& dist, Tensor rows, const Numbers& out, const Numbers& in) {
  const std::int64_t h = rows.shape().extents().back();
  auto travel = std::make_unique<Travel>();
  travel->leaving = std::move(rows);
  travel->arriving = Tensor({std::accumulate(in.begin(), in.end(), std::int64_t{0}) / h, h});
  travel->request = dist.all_to_all_v_async(travel->leaving, out, travel->arriving, in);
  return travel;
}

Numbers of_ranks(const Numbers& counts, std::int64_t own, std::int64_t h) {
  Numbers sums;
  for (auto at = counts.begin(); at != counts.end(); at += own)
    sums.push_back(h * std::accumulate(at, at + own, std::int64_t{0}));
  return sums;
}

}  // namespace

void expert_parallel_layer(Comm& dist, ExpertLayer& layer, Direction direction, Tensor& tensor,
                           Saved& saved) {
  const std::int64_t h = tensor.shape().extents().back();
  const std::int64_t own = layer.weights.value.shape().extents().front();
  if (direction == Direction::kForward) {
    auto batch = std::make_shared<Batch>();
    Saved unused;
    batch->scores = layer.router.forward(tensor, unused);
    const std::int64_t experts = batch->scores.shape().extents().back();
    batch->rows = rows_by_expert(choose_experts(batch->scores, layer.k), layer.k, experts);
    const TensorOf<std::int64_t> counts = from_host(batch->rows.counts);
    auto from_ranks = empty_like(counts);
    const Request of_counts = dist.all_to_all_async(counts, from_ranks);
    Tensor leaving = rows_at(tensor, batch->rows.tokens);
    dist.wait(of_counts);
    batch->arrived = to_host(from_ranks);
    batch->out = of_ranks(batch->rows.counts, own, h);
    batch->in = of_ranks(batch->arrived, own, h);
    auto travel = start(dist, std::move(leaving), batch->out, batch->in);
    dist.wait(travel->request);
    batch->inputs = std::move(travel->arriving);
    travel = start(dist, apply_experts(batch->inputs, batch->arrived, layer.weights.value),
                   batch->in, batch->out);
    batch->x = std::exchange(tensor, zeros(tensor.shape()));
    dist.wait(travel->request);
    batch->results = std::move(travel->arriving);
    add_rows_at(tensor, batch->results, batch->rows.tokens, batch->rows.gates);
    saved.push(batch);
    return;
  }

  const auto batch = std::static_pointer_cast<Batch>(saved.pop_object());
  const ExpertRows& rows = batch->rows;
  const Tensor of_rows = rows_at(tensor, rows.tokens);
  Tensor weighted = zeros(of_rows.shape());
  Numbers same(rows.tokens.size());
  std::iota(same.begin(), same.end(), 0);
  add_rows_at(weighted, of_rows, same, rows.gates);
  auto travel = start(dist, std::move(weighted), batch->out, batch->in);

  // The router's backward needs no other rank.
  Linear copied(layer.router.weight.value, Tensor());
  Saved of_x;
  copied.forward(std::move(batch->x), of_x);
  tensor = copied.backward(
      scores_backward(batch->scores, rows, row_products(of_rows, batch->results)), of_x);
  dist.wait(travel->request);
  travel = start(dist,
                 apply_experts_backward(batch->inputs, batch->arrived, layer.weights.value,
                                        travel->arriving, gradient_of(layer.weights)),
                 batch->in, batch->out);
  const Request of_router = dist.all_reduce_async(copied.weight.gradient);
  dist.wait(travel->request);
  add_rows_at(tensor, travel->arriving, rows.tokens, std::vector<float>(rows.tokens.size(), 1));
  dist.wait(of_router);
  gradient_of(layer.router.weight) += copied.weight.gradient;
}

}  // namespace rankbox
