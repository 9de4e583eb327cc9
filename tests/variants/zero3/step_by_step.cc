// Without helpers of its own: everything in two loops.
#include <utility>

#include "parallel/zero3.h"

namespace rankbox {

void zero3(Comm& dist, Sequential& model, const Batch& batch, Saved& saved,
           std::vector<Shard>& shards, Loss& loss, Optimizer& optimizer) {
  const int p = dist.world_size();
  Tensor y = batch.x;
  for (std::size_t i = 0; i < shards.size(); ++i) {
    Layer& layer = model.layer(static_cast<std::int64_t>(i));
    if (!layer.parameters().empty()) {
      Tensor flat = flat_for(shards[i], p);
      dist.all_gather(shards[i].mine.value, flat);
      unpack_values(flat, shards[i], layer.parameters());
    }
    y = layer.forward(std::move(y), saved);
    drop_values(layer.parameters());
  }
  loss = cross_entropy(y, batch.labels);
  Tensor dy = std::move(loss.gradient);
  for (std::size_t i = shards.size(); i-- > 0;) {
    Layer& layer = model.layer(static_cast<std::int64_t>(i));
    if (layer.parameters().empty()) {
      dy = layer.backward(std::move(dy), saved);
      continue;
    }
    Tensor flat = flat_for(shards[i], p);
    dist.all_gather(shards[i].mine.value, flat);
    unpack_values(flat, shards[i], layer.parameters());
    dy = layer.backward(std::move(dy), saved);
    pack_gradients(layer.parameters(), shards[i], flat);
    drop_gradients(layer.parameters());
    drop_values(layer.parameters());
    dist.reduce_scatter(flat, gradient_of(shards[i].mine), ReduceOp::AVG);
  }
  optimizer.step();
}

}  // namespace rankbox
