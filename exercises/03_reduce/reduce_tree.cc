#include "collectives/reduce_tree.h"

namespace rankbox {

void reduce_tree(Comm& dist, Tensor& tensor, int dst, ReduceOp op) {
  // TODO: in every round, half of the remaining ranks send their tensor to a partner and are done.
  // Number the ranks from dst on (collectives/topology.h). Which bit of the number decides?
  // Not every rank has a partner when p is not a power of two. What does it do in that round?
  throw NotImplemented("reduce_tree");
}

}  // namespace rankbox
