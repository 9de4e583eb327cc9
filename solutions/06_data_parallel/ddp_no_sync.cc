#include "parallel/ddp_no_sync.h"

#include "parallel/ddp_average_gradients.h"
#include "training/cross_entropy.h"

namespace rankbox {

void ddp_no_sync(Comm& dist, Sequential& model, const std::vector<Batch>& micro_batches) {
  std::int64_t samples = 0;
  for (const Batch& batch : micro_batches) samples += batch.size();

  for (const Batch& batch : micro_batches) {
    Saved saved(batch.pass(Mode::kTraining));
    const Tensor logits = model.forward(batch.x, saved);
    Loss loss = cross_entropy(logits, batch.labels, static_cast<double>(samples));
    model.backward(std::move(loss.gradient), saved);
  }
  ddp_average_gradients(dist, model.parameters());
}

}  // namespace rankbox
