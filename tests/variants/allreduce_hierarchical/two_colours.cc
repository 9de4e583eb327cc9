// Everybody joins a second communicator; only that of the leaders is used.
#include "collectives/allreduce_hierarchical.h"
#include "collectives/allreduce_rabenseifner.h"
#include "collectives/average.h"
#include "collectives/broadcast_tree.h"
#include "collectives/reduce_tree.h"

namespace rankbox {

namespace {

template <class Between>
void within(Comm& node, Tensor& tensor, ReduceOp op, Between between) {
  reduce_tree(node, tensor, 0, op);
  between();
  broadcast_tree(node, tensor, 0);
}

}  // namespace

void allreduce_hierarchical(Comm& dist, Tensor& tensor, ReduceOp op) {
  Comm node = dist.split(dist.node(), dist.rank());
  Comm peers = dist.split(node.rank() == 0 ? 0 : 1, dist.rank());
  const ReduceOp sum = sum_if_average(op);
  within(node, tensor, sum, [&] {
    if (node.rank() != 0) return;
    allreduce_rabenseifner(peers, tensor, sum);
    divide_if_average(tensor, op, dist.world_size());
  });
}

}  // namespace rankbox
