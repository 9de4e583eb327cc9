// Collectives are started, and awaited in the next line.
#include <utility>

#include "parallel/zero1.h"

namespace rankbox {

void zero1(Comm& dist, const std::vector<Parameter*>& parameters, Shard& shard,
           Optimizer& optimizer) {
  Tensor flat = flat_for(shard, dist.world_size());
  pack_gradients(parameters, shard, flat);
  Request scattered = dist.reduce_scatter_async(flat, gradient_of(shard.mine), ReduceOp::AVG);
  dist.wait(std::move(scattered));

  optimizer.step();

  Request gathered = dist.all_gather_async(shard.mine.value, flat);
  dist.wait(std::move(gathered));
  unpack_values(flat, shard, parameters);
}

}  // namespace rankbox
