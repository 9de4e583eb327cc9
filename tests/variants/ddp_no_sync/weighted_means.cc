// Means, each weighted by its share of the samples; the last micro-batch's backward is followed by
// all-reduces that are all under way at once.
#include "parallel/ddp_no_sync.h"
#include "training/cross_entropy.h"

namespace rankbox {

void ddp_no_sync(Comm& dist, Sequential& model, const std::vector<Batch>& micro_batches) {
  float samples = 0;
  for (const Batch& batch : micro_batches) samples += static_cast<float>(batch.size());
  std::vector<Saved> saved;
  for (const Batch& batch : micro_batches) saved.emplace_back(batch.pass(Mode::kTraining));
  for (std::size_t i = 0; i < micro_batches.size(); ++i) {
    const Batch& batch = micro_batches[i];
    Loss loss = cross_entropy(model.forward(batch.x, saved[i]), batch.labels);
    loss.gradient *= static_cast<float>(batch.size()) / samples;
    model.backward(std::move(loss.gradient), saved[i]);
  }
  std::vector<Request> requests;
  for (Parameter* parameter : model.parameters())
    requests.push_back(dist.all_reduce_async(gradient_of(*parameter), ReduceOp::AVG));
  dist.wait_all(requests);
}

}  // namespace rankbox
