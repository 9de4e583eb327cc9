// A layer is a call: backward before the call for the layer below, gathered after it.
#include <utility>
#include <vector>

#include "parallel/zero2.h"

namespace rankbox {

namespace {

struct Step {
  Comm& dist;
  Sequential& model;
  Saved& saved;
  std::vector<Shard>& shards;
  Optimizer& optimizer;

  void take(std::int64_t layers, Tensor dy) const {
    if (layers == 0) return optimizer.step();
    const std::int64_t i = layers - 1;
    Layer& layer = model.layer(i);
    Shard& shard = shards[static_cast<std::size_t>(i)];
    dy = layer.backward(std::move(dy), saved);
    const std::vector<Parameter*> own = layer.parameters();
    if (!own.empty()) {
      Tensor flat = flat_for(shard, dist.world_size());
      pack_gradients(own, shard, flat);
      drop_gradients(own);
      dist.reduce_scatter(flat, gradient_of(shard.mine), ReduceOp::AVG);
    }
    take(i, std::move(dy));
    if (own.empty()) return;
    Tensor flat = flat_for(shard, dist.world_size());
    dist.all_gather(shard.mine.value, flat);
    unpack_values(flat, shard, own);
  }
};

}  // namespace

void zero2(Comm& dist, Sequential& model, Tensor dy, Saved& saved, std::vector<Shard>& shards,
           Optimizer& optimizer) {
  Step{dist, model, saved, shards, optimizer}.take(model.size(), std::move(dy));
}

}  // namespace rankbox
