// Two calls, with the rank in the middle as their root.
#include "collectives/allreduce_naive.h"
#include "collectives/broadcast_naive.h"
#include "collectives/reduce_naive.h"

namespace rankbox {

void allreduce_naive(Comm& dist, Tensor& tensor, ReduceOp op) {
  const int root = dist.world_size() / 2;
  reduce_naive(dist, tensor, root, op);
  broadcast_naive(dist, tensor, root);
}

}  // namespace rankbox
