#include "collectives/allreduce_tree.h"

#include "collectives/broadcast_tree.h"
#include "collectives/reduce_tree.h"

namespace rankbox {

void allreduce_tree(Comm& dist, Tensor& tensor, ReduceOp op) {
  // Any root works, as long as all ranks use the same one.
  reduce_tree(dist, tensor, 0, op);
  broadcast_tree(dist, tensor, 0);
}

}  // namespace rankbox
