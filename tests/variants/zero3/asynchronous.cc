// Collectives are started, and awaited in the next line.
#include <utility>

#include "parallel/zero3.h"

namespace rankbox {

namespace {

void whole(Comm& dist, const Shard& shard, Layer& layer) {
  if (shard.shapes.empty()) return;
  Tensor flat = flat_for(shard, dist.world_size());
  auto request = dist.all_gather_async(shard.mine.value, flat);
  dist.wait(std::move(request));
  unpack_values(flat, shard, layer.parameters());
}

}  // namespace

void zero3(Comm& dist, Sequential& model, const Batch& batch, Saved& saved,
           std::vector<Shard>& shards, Loss& loss, Optimizer& optimizer) {
  Tensor y = clone(batch.x);
  for (std::int64_t i = 0; i < model.size(); ++i) {
    whole(dist, shards[static_cast<std::size_t>(i)], model.layer(i));
    y = model.layer(i).forward(std::move(y), saved);
    drop_values(model.layer(i).parameters());
  }
  loss = cross_entropy(y, batch.labels);
  Tensor dy = std::exchange(loss.gradient, {});
  for (std::int64_t i = model.size(); i-- > 0;) {
    Shard& shard = shards[static_cast<std::size_t>(i)];
    whole(dist, shard, model.layer(i));
    dy = model.layer(i).backward(std::move(dy), saved);
    drop_values(model.layer(i).parameters());
    if (shard.shapes.empty()) continue;
    Tensor flat = flat_for(shard, dist.world_size());
    pack_gradients(model.layer(i).parameters(), shard, flat);
    drop_gradients(model.layer(i).parameters());
    auto request = dist.reduce_scatter_async(flat, gradient_of(shard.mine), ReduceOp::AVG);
    dist.wait(std::move(request));
  }
  optimizer.step();
}

}  // namespace rankbox
