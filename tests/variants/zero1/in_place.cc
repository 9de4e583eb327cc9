// In place: the mean of this rank's piece, and then its new values, lie where they belong in
// `flat`.
#include "parallel/zero1.h"

namespace rankbox {

void zero1(Comm& dist, const std::vector<Parameter*>& parameters, Shard& shard,
           Optimizer& optimizer) {
  Tensor flat = flat_for(shard, dist.world_size());
  const Slice mine = chunk(flat, dist.rank(), dist.world_size());
  pack_gradients(parameters, shard, flat);
  dist.reduce_scatter(flat, mine, ReduceOp::AVG);
  copy(gradient_of(shard.mine), mine);
  optimizer.step();
  copy(mine, shard.mine.value);
  dist.all_gather(mine, flat);
  unpack_values(flat, shard, parameters);
}

}  // namespace rankbox
