// Micro-batches from the last, layer by layer; one divisor for the samples of all ranks.
#include <vector>

#include "parallel/ddp_no_sync.h"
#include "training/cross_entropy.h"

namespace rankbox {

void ddp_no_sync(Comm& dist, Sequential& model, const std::vector<Batch>& micro_batches) {
  std::int64_t samples = 0;
  for (const Batch& batch : micro_batches) samples += batch.size() * dist.world_size();
  for (auto batch = micro_batches.rbegin(); batch != micro_batches.rend(); ++batch) {
    Saved saved(batch->pass(Mode::kTraining));
    Tensor y = batch->x;
    for (std::int64_t i = 0; i < model.size(); ++i) y = model.layer(i).forward(std::move(y), saved);
    y = cross_entropy(y, batch->labels, static_cast<double>(samples)).gradient;
    for (std::int64_t i = model.size(); i-- > 0;) y = model.layer(i).backward(std::move(y), saved);
  }
  for (Parameter* parameter : model.parameters()) dist.all_reduce(gradient_of(*parameter));
}

}  // namespace rankbox
