// The root is the last rank: any would do, as long as all mean the same one.
#include "collectives/allreduce_naive.h"
#include "collectives/broadcast_naive.h"
#include "collectives/reduce_naive.h"

namespace rankbox {

void allreduce_naive(Comm& dist, Tensor& tensor, ReduceOp op) {
  const int last = dist.world_size() - 1;
  reduce_naive(dist, tensor, last, op);
  broadcast_naive(dist, tensor, last);
}

}  // namespace rankbox
