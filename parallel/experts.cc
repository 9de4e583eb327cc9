#include "parallel/experts.h"

#include <cmath>
#include <memory>
#include <numeric>
#include <utility>

#include "training/initial.h"

namespace rankbox {

namespace {

/// What backward needs beside what the router saves.
struct Kept {
  Tensor scores, inputs, results;
  ExpertRows rows;
};

}  // namespace

Experts::Experts(std::int64_t width, std::int64_t experts, int choices, Random random)
    : router(random_tensor<float>({experts, width}, 1 / std::sqrt(width), random.stream("router")),
             Tensor()),
      weights{"weights", random_tensor<float>({experts, width, width}, 3 / std::sqrt(width),
                                              random.stream("weights"))},
      k(choices) {
  router.weight.name = "router";
}

ExpertRows Experts::rows_for(const Tensor& scores) const {
  return rows_by_expert(choose_experts(scores, k), k, scores.shape().extents()[1]);
}

void Experts::add_loads(const ExpertRows& rows) {
  for (std::size_t e = 0; e < rows.counts.size(); ++e) loads_->at(e) += rows.counts[e];
}

void Experts::count(const Tensor& x) {
  if (loads_ == nullptr) return;
  Saved unused(Pass{.mode = Mode::kEvaluation});
  add_loads(rows_for(router.forward(x, unused)));
}

Tensor Experts::forward(Tensor x, Saved& saved) {
  Kept kept;
  kept.scores = router.forward(x, saved);
  kept.rows = rows_for(kept.scores);
  if (!saved.training() && loads_ != nullptr) add_loads(kept.rows);
  kept.inputs = rows_at(x, kept.rows.tokens);
  kept.results = apply_experts(kept.inputs, kept.rows.counts, weights.value);
  Tensor y = zeros(x.shape());
  add_rows_at(y, kept.results, kept.rows.tokens, kept.rows.gates);
  saved.push(std::make_shared<Kept>(std::move(kept)));
  return y;
}

Tensor Experts::backward(Tensor dy, Saved& saved) {
  const auto kept = std::static_pointer_cast<Kept>(saved.pop_object());
  const ExpertRows& rows = kept->rows;
  const Tensor of_rows = rows_at(dy, rows.tokens);
  std::vector<std::int64_t> in_order(rows.tokens.size());
  std::iota(in_order.begin(), in_order.end(), 0);
  Tensor by_results = zeros(of_rows.shape());
  add_rows_at(by_results, of_rows, in_order, rows.gates);
  const Tensor by_inputs = apply_experts_backward(kept->inputs, rows.counts, weights.value,
                                                  by_results, gradient_of(weights));
  Tensor dx = router.backward(
      scores_backward(kept->scores, rows, row_products(of_rows, kept->results)), saved);
  add_rows_at(dx, by_inputs, rows.tokens, std::vector<float>(rows.tokens.size(), 1));
  return dx;
}

}  // namespace rankbox
