// The last rank of every node leads it.
#include "collectives/allreduce_hierarchical.h"
#include "collectives/allreduce_rabenseifner.h"
#include "collectives/average.h"
#include "collectives/broadcast_tree.h"
#include "collectives/reduce_tree.h"

namespace rankbox {

void allreduce_hierarchical(Comm& dist, Tensor& tensor, ReduceOp op) {
  Comm node = dist.split(dist.node(), dist.rank());
  const int leader = node.world_size() - 1;
  const bool leads = node.rank() == leader;
  Comm leaders = dist.split(leads ? 0 : -1, dist.rank());
  reduce_tree(node, tensor, leader, sum_if_average(op));
  if (leads) {
    allreduce_rabenseifner(leaders, tensor, sum_if_average(op));
    divide_if_average(tensor, op, dist.world_size());
  }
  broadcast_tree(node, tensor, leader);
}

}  // namespace rankbox
