// Two calls, with the rank in the middle as their root.
#include "collectives/allreduce_tree.h"
#include "collectives/broadcast_tree.h"
#include "collectives/reduce_tree.h"

namespace rankbox {

void allreduce_tree(Comm& dist, Tensor& tensor, ReduceOp op) {
  const int root = dist.world_size() / 2;
  reduce_tree(dist, tensor, root, op);
  broadcast_tree(dist, tensor, root);
}

}  // namespace rankbox
