#include "collectives/allreduce_hierarchical.h"

namespace rankbox {

void allreduce_hierarchical(Comm& node, Comm& counterparts, Tensor& tensor, ReduceOp op) {
  // TODO: 1. reduce-scatter inside the node; 2. all-reduce of my piece with my counterparts;
  // 3. all-gather inside the node. Each is an exercise: include its header and call it.
  // All pieces must have one size: what if the node's ranks do not divide the tensor?
  // By how many ranks does AVG divide, and which is the cheapest moment?
  throw NotImplemented("allreduce_hierarchical");
}

}  // namespace rankbox
