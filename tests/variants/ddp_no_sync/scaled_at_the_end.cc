// The losses are sums: gradients are divided at the end, by the samples of all ranks.
#include "parallel/ddp_no_sync.h"
#include "training/cross_entropy.h"

namespace rankbox {

void ddp_no_sync(Comm& dist, Sequential& model, const std::vector<Batch>& micro_batches) {
  std::int64_t samples = 0;
  for (const Batch& batch : micro_batches) {
    Saved saved(batch.pass(Mode::kTraining));
    const Tensor logits = model.forward(batch.x, saved);
    model.backward(cross_entropy(logits, batch.labels, 1).gradient, saved);
    samples += batch.size();
  }
  for (Parameter* parameter : model.parameters()) {
    Tensor& gradient = gradient_of(*parameter);
    dist.all_reduce(gradient, ReduceOp::SUM);
    gradient /= static_cast<float>(samples * dist.world_size());
  }
}

}  // namespace rankbox
