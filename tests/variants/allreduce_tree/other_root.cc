// The root is the last rank, and the average is taken on every rank.
#include "collectives/allreduce_tree.h"
#include "collectives/average.h"
#include "collectives/broadcast_tree.h"
#include "collectives/reduce_tree.h"

namespace rankbox {

void allreduce_tree(Comm& dist, Tensor& tensor, ReduceOp op) {
  const int last = dist.world_size() - 1;
  reduce_tree(dist, tensor, last, sum_if_average(op));
  broadcast_tree(dist, tensor, last);
  divide_if_average(tensor, op, dist.world_size());
}

}  // namespace rankbox
