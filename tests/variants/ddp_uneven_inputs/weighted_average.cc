// Means, weighted so that the average over ranks is right; gradients are made afresh in every step,
// and their all-reduces are all under way at once.
#include <vector>

#include "parallel/ddp_uneven_inputs.h"
#include "training/cross_entropy.h"

namespace rankbox {

void ddp_uneven_inputs(Comm& dist, Sequential& model, Optimizer& optimizer,
                       const std::vector<Batch>& batches) {
  auto next = batches.begin();
  for (;;) {
    const double own = next == batches.end() ? 0 : static_cast<double>(next->size());
    auto mean = from_host({own});
    dist.all_reduce(mean, ReduceOp::AVG);
    const double average = to_host(mean).front();
    if (average == 0) return;

    for (Parameter* parameter : model.parameters()) parameter->gradient = {};
    if (own > 0) {
      Saved saved(next->pass(Mode::kTraining));
      Loss loss = cross_entropy(model.forward(next->x, saved), next->labels);
      loss.gradient *= static_cast<float>(own / average);
      model.backward(std::move(loss.gradient), saved);
      ++next;
    }
    std::vector<Request> requests;
    for (Parameter* parameter : model.parameters())
      requests.push_back(dist.all_reduce_async(gradient_of(*parameter), ReduceOp::AVG));
    dist.wait_all(requests);
    optimizer.step();
  }
}

}  // namespace rankbox
