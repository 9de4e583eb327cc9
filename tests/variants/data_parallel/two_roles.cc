// Master and workers are two functions, which make the same calls.
#include <vector>

#include "parallel/data_parallel.h"

namespace rankbox {

namespace {

Shape shape_of(const Tensor& like, std::int64_t samples) {
  std::vector<std::int64_t> extents = like.shape().extents();
  extents.front() = samples;
  return extents;
}

Tensor unused(const Tensor& like, std::int64_t samples) { return Tensor(shape_of(like, samples)); }

void work(Comm& dist, Sequential& model, const Batch& batch) {
  const std::int64_t part = batch.size() / dist.world_size();
  Saved saved;
  Tensor x = unused(batch.x, part);
  dist.scatter(unused(batch.x, batch.size()), x, 0);
  const Tensor y = model.forward(std::move(x), saved);
  Tensor all = unused(y, batch.size());
  dist.gather(y, all, 0);
  Tensor dy(y.shape());
  dist.scatter(all, dy, 0);
  model.backward(std::move(dy), saved);
}

void lead(Comm& dist, Sequential& model, const Batch& batch) {
  const std::int64_t part = batch.size() / dist.world_size();
  Saved saved;
  Tensor mine(shape_of(batch.x, part));
  dist.scatter(batch.x, mine, 0);
  mine = model.forward(std::move(mine), saved);
  Tensor all(shape_of(mine, batch.size()));
  dist.gather(mine, all, 0);
  all = cross_entropy(all, batch.labels).gradient;
  dist.scatter(all, mine, 0);
  model.backward(std::move(mine), saved);
}

}  // namespace

void data_parallel(Comm& dist, Sequential& model, const Batch& batch) {
  for (Parameter* each : model.parameters()) dist.wait(dist.broadcast_async(each->value, 0));
  dist.rank() == 0 ? lead(dist, model, batch) : work(dist, model, batch);
  for (Parameter* each : model.parameters())
    dist.wait(dist.reduce_async(gradient_of(*each), 0, ReduceOp::SUM));
}

}  // namespace rankbox
