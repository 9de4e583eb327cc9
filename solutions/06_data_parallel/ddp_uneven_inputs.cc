#include "parallel/ddp_uneven_inputs.h"

#include <utility>

#include "training/cross_entropy.h"

namespace rankbox {

namespace {

double sum_over_ranks(Comm& dist, double mine) {
  auto sum = from_host({mine});
  dist.all_reduce(sum, ReduceOp::SUM);
  return to_host(sum).front();
}

/// Adds the gradient of the sum of the losses divided by `divisor`.
void add_gradients(Sequential& model, const Batch& batch, double divisor) {
  Saved saved(batch.pass(Mode::kTraining));
  const Tensor logits = model.forward(batch.x, saved);
  Loss loss = cross_entropy(logits, batch.labels, divisor);
  model.backward(std::move(loss.gradient), saved);
}

}  // namespace

void ddp_uneven_inputs(Comm& dist, Sequential& model, Optimizer& optimizer,
                       const std::vector<Batch>& batches) {
  for (std::size_t step = 0;; ++step) {
    const Batch* batch = step < batches.size() ? &batches[step] : nullptr;
    const double mine = batch == nullptr ? 0 : static_cast<double>(batch->size());
    const double samples = sum_over_ranks(dist, mine);
    if (samples == 0) return;

    zero_gradients(model.parameters());
    if (batch != nullptr) add_gradients(model, *batch, samples);
    for (Parameter* parameter : model.parameters())
      dist.all_reduce(gradient_of(*parameter), ReduceOp::SUM);
    optimizer.step();
  }
}

}  // namespace rankbox
