#include "parallel/zero1.h"

namespace rankbox {

void zero1(Comm& dist, const std::vector<Parameter*>& parameters, Shard& shard,
           Optimizer& optimizer) {
  Tensor flat = flat_for(shard, dist.world_size());
  pack_gradients(parameters, shard, flat);
  dist.reduce_scatter(flat, gradient_of(shard.mine), ReduceOp::AVG);

  optimizer.step();

  dist.all_gather(shard.mine.value, flat);
  unpack_values(flat, shard, parameters);
}

}  // namespace rankbox
