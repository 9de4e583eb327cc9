#include "parallel/data_parallel.h"

namespace rankbox {

namespace {

constexpr int kMaster = 0;

/// The shape of fewer samples: sample i of a tensor is tensor[i, …].
Shape with_samples(const Shape& shape, std::int64_t samples) {
  std::vector<std::int64_t> extents = shape.extents();
  extents[0] = samples;
  return extents;
}

}  // namespace

void data_parallel(Comm& dist, Sequential& model, const Batch& batch) {
  const std::int64_t part = batch.size() / dist.world_size();

  // 1. and 2. The others get the model, and their parts of the batch.
  for (Parameter* parameter : model.parameters()) dist.broadcast(parameter->value, kMaster);
  Tensor x(with_samples(batch.x.shape(), part));
  dist.scatter(batch.x, x, kMaster);

  // 3. to 5. The master computes the loss.
  Saved saved;
  const Tensor y = model.forward(std::move(x), saved);
  Tensor all(with_samples(y.shape(), batch.size()));
  dist.gather(y, all, kMaster);
  Tensor dall = empty_like(all);
  if (dist.rank() == kMaster) dall = cross_entropy(all, batch.labels).gradient;
  Tensor dy = empty_like(y);
  dist.scatter(dall, dy, kMaster);

  // 6. and 7. The gradients are summands.
  model.backward(std::move(dy), saved);
  for (Parameter* parameter : model.parameters())
    dist.reduce(gradient_of(*parameter), kMaster, ReduceOp::SUM);
}

}  // namespace rankbox
