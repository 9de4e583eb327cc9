#include "collectives/allreduce_hierarchical.h"

#include "collectives/allreduce_rabenseifner.h"
#include "collectives/average.h"
#include "collectives/broadcast_tree.h"
#include "collectives/reduce_tree.h"

namespace rankbox {

void allreduce_hierarchical(Comm& dist, Tensor& tensor, ReduceOp op) {
  // The first rank of every node leads it: rank 0 of `node`, since the key orders them. The other
  // ranks join no second communicator, but must call split all the same.
  Comm node = dist.split(dist.node(), dist.rank());
  const bool leads = node.rank() == 0;
  Comm leaders = dist.split(leads ? 0 : -1, dist.rank());

  // 1. Inside each node. An average of averages would be wrong where nodes differ in size.
  const ReduceOp partial = sum_if_average(op);
  reduce_tree(node, tensor, 0, partial);

  // 2. Between the nodes.
  if (leads) {
    allreduce_rabenseifner(leaders, tensor, partial);
    divide_if_average(tensor, op, dist.world_size());
  }

  // 3. Inside each node.
  broadcast_tree(node, tensor, 0);
}

}  // namespace rankbox
