// Collectives are started, and awaited in the next line. What forward saved is used up.
#include <utility>

#include "parallel/zero2.h"

namespace rankbox {

void zero2(Comm& dist, Sequential& model, Tensor dy, Saved& saved, std::vector<Shard>& shards,
           Optimizer& optimizer) {
  if (saved.empty()) throw InvalidArgument("forward saved nothing");
  for (std::int64_t i = model.size(); i-- > 0;) {
    dy = model.layer(i).backward(std::move(dy), saved);
    const std::vector<Parameter*> parameters = model.layer(i).parameters();
    if (parameters.empty()) continue;

    Shard& shard = shards[static_cast<std::size_t>(i)];
    Tensor flat = flat_for(shard, dist.world_size());
    pack_gradients(parameters, shard, flat);
    drop_gradients(parameters);
    Request scattered = dist.reduce_scatter_async(flat, gradient_of(shard.mine), ReduceOp::AVG);
    dist.wait(std::move(scattered));
  }
  if (!saved.empty()) throw InvalidArgument("backward left something");

  optimizer.step();

  for (std::int64_t i = 0; i < model.size(); ++i) {
    const std::vector<Parameter*> parameters = model.layer(i).parameters();
    if (parameters.empty()) continue;

    const Shard& shard = shards[static_cast<std::size_t>(i)];
    Tensor flat = flat_for(shard, dist.world_size());
    Request gathered = dist.all_gather_async(shard.mine.value, flat);
    dist.wait(std::move(gathered));
    unpack_values(flat, shard, parameters);
  }
}

}  // namespace rankbox
