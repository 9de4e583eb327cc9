// One step of ZeRO stage 1 on one flat parameter, for the picture in chapter 9.
//
//   ./rankbox run docs/pictures/zero1_step.cc --ranks 4 --svg docs/pictures/zero1_step.svg
#include "comm/comm.h"

namespace rankbox {

void rank_main(Comm& dist) {
  const int p = dist.world_size();
  Tensor weights = full(4 * p, 1.0F);
  Tensor gradient = full(4 * p, 0.5F);
  const Slice mine = chunk(weights, dist.rank(), p);
  Tensor shard = zeros(mine.size());

  dist.reduce_scatter(gradient, shard);  // each rank sums the shard that it updates
  dist.compute(1e-6);                    // and keeps the optimizer's state of that shard alone
  accumulate(mine, shard, ReduceOp::SUM);
  dist.all_gather(mine, weights);  // all ranks have all new weights
}

}  // namespace rankbox
