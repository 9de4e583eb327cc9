// The master scales the loss up, so that the mean over ranks is the sum.
#include "parallel/data_parallel.h"

namespace rankbox {

void data_parallel(Comm& dist, Sequential& model, const Batch& batch) {
  for (Parameter* parameter : model.parameters()) dist.broadcast(parameter->value, 0);
  Tensor x = clone(micro_batch(batch, 0, batch.size() / dist.world_size()).x);
  dist.scatter(batch.x, x, 0);
  Saved saved;
  const Tensor y = model.forward(std::move(x), saved);
  Tensor whole(Shape{batch.size(), y.shape().extents()[1]});
  dist.gather(y, whole, 0);
  if (dist.rank() == 0) {
    whole = cross_entropy(whole, batch.labels).gradient;
    whole *= static_cast<float>(dist.world_size());
  }
  Tensor dy = zeros(y.shape());
  dist.scatter(whole, dy, 0);
  model.backward(std::move(dy), saved);
  for (Parameter* parameter : model.parameters())
    dist.reduce(gradient_of(*parameter), 0, ReduceOp::AVG);
}

}  // namespace rankbox
