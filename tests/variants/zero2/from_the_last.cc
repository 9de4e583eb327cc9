// Gathers from the last layer to the first, and frees the shards' gradients as soon as they are
// used.
#include "parallel/zero2.h"

namespace rankbox {

void zero2(Comm& dist, Sequential& model, Tensor dy, Saved& saved, std::vector<Shard>& shards,
           Optimizer& optimizer) {
  const int p = dist.world_size();
  for (std::size_t i = shards.size(); i-- > 0;) {
    Layer& layer = model.layer(static_cast<std::int64_t>(i));
    dy = layer.backward(std::move(dy), saved);
    if (shards[i].shapes.empty()) continue;
    Tensor flat = flat_for(shards[i], p);
    pack_gradients(layer.parameters(), shards[i], flat);
    for (Parameter* parameter : layer.parameters()) parameter->gradient = Tensor();
    const Slice mine = chunk(flat, dist.rank(), p);
    dist.reduce_scatter(flat, mine, ReduceOp::AVG);
    copy(gradient_of(shards[i].mine), mine);
  }
  optimizer.step();
  for (std::size_t i = shards.size(); i-- > 0;) {
    if (shards[i].shapes.empty()) continue;
    shards[i].mine.gradient = Tensor();
    Tensor flat = flat_for(shards[i], p);
    dist.all_gather(shards[i].mine.value, flat);
    unpack_values(flat, shards[i], model.layer(static_cast<std::int64_t>(i)).parameters());
  }
}

}  // namespace rankbox
