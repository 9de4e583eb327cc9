#include "collectives/allreduce_hierarchical.h"

namespace rankbox {

void allreduce_hierarchical(Comm& dist, Tensor& tensor, ReduceOp op) {
  // TODO: 1. reduce inside each node; 2. all-reduce between the leaders; 3. broadcast in each node.
  // split(color, key) makes a Comm of the ranks with one color; a negative color joins none.
  // Nodes may differ in size: what does that do to an average of averages?
  throw NotImplemented("allreduce_hierarchical");
}

}  // namespace rankbox
