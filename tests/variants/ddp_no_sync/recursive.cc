// Recursion over the micro-batches; gradients are all under way before one is waited for.
#include <numeric>
#include <span>
#include <vector>

#include "parallel/ddp_no_sync.h"
#include "training/cross_entropy.h"

namespace rankbox {

namespace {

void accumulate(Sequential& model, std::span<const Batch> rest, double samples) {
  if (rest.empty()) return;
  {
    const Batch& batch = rest.front();
    Saved saved(batch.pass(Mode::kTraining));
    Tensor logits = model.forward(batch.x, saved);
    model.backward(cross_entropy(logits, batch.labels, samples).gradient, saved);
  }
  accumulate(model, rest.subspan(1), samples);
}

}  // namespace

void ddp_no_sync(Comm& dist, Sequential& model, const std::vector<Batch>& micro_batches) {
  const auto samples =
      std::accumulate(micro_batches.begin(), micro_batches.end(), std::int64_t{0},
                      [](std::int64_t sum, const Batch& batch) { return sum + batch.size(); });
  accumulate(model, micro_batches, static_cast<double>(samples));
  std::vector<Request> requests;
  for (Parameter* parameter : model.parameters())
    requests.push_back(dist.all_reduce_async(gradient_of(*parameter), ReduceOp::AVG));
  dist.wait_all(requests);
}

}  // namespace rankbox
