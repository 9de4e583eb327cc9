#include "parallel/zero3.h"

#include <utility>

namespace rankbox {

namespace {

/// Gathers the layer's weights.
void gather(Comm& dist, const Shard& shard, const std::vector<Parameter*>& parameters) {
  if (parameters.empty()) return;
  Tensor flat = flat_for(shard, dist.world_size());
  dist.all_gather(shard.mine.value, flat);
  unpack_values(flat, shard, parameters);
}

/// Sends the mean of its gradients to their owners.
void scatter_gradients(Comm& dist, Shard& shard, const std::vector<Parameter*>& parameters) {
  if (parameters.empty()) return;
  Tensor flat = flat_for(shard, dist.world_size());
  pack_gradients(parameters, shard, flat);
  drop_gradients(parameters);
  dist.reduce_scatter(flat, gradient_of(shard.mine), ReduceOp::AVG);
}

}  // namespace

void zero3(Comm& dist, Sequential& model, const Batch& batch, Saved& saved,
           std::vector<Shard>& shards, Loss& loss, Optimizer& optimizer) {
  Tensor y = clone(batch.x);
  for (std::int64_t i = 0; i < model.size(); ++i) {
    const std::vector<Parameter*> parameters = model.layer(i).parameters();
    gather(dist, shards[static_cast<std::size_t>(i)], parameters);
    y = model.layer(i).forward(std::move(y), saved);
    drop_values(parameters);
  }

  loss = cross_entropy(y, batch.labels);
  Tensor dy = std::exchange(loss.gradient, {});

  for (std::int64_t i = model.size(); i-- > 0;) {
    const std::vector<Parameter*> parameters = model.layer(i).parameters();
    Shard& shard = shards[static_cast<std::size_t>(i)];
    gather(dist, shard, parameters);
    dy = model.layer(i).backward(std::move(dy), saved);
    drop_values(parameters);
    scatter_gradients(dist, shard, parameters);
  }

  optimizer.step();
}

}  // namespace rankbox
