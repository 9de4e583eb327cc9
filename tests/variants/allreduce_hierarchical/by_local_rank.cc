// Who leads is known before there is a communicator: local rank 0. The average is taken by all.
#include "collectives/allreduce_hierarchical.h"
#include "collectives/allreduce_rabenseifner.h"
#include "collectives/average.h"
#include "collectives/broadcast_tree.h"
#include "collectives/reduce_tree.h"

namespace rankbox {

void allreduce_hierarchical(Comm& dist, Tensor& tensor, ReduceOp op) {
  const bool leads = dist.local_rank() == 0;
  Comm leaders = dist.split(leads ? 1 : -1, dist.node());
  Comm node = dist.split(dist.node(), dist.local_rank());
  const ReduceOp sum = sum_if_average(op);
  reduce_tree(node, tensor, 0, sum);
  if (leads) allreduce_rabenseifner(leaders, tensor, sum);
  broadcast_tree(node, tensor, 0);
  divide_if_average(tensor, op, dist.world_size());
}

}  // namespace rankbox
