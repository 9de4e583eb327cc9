#include "collectives/allgather_tree.h"

namespace rankbox {

void allgather_tree(Comm& dist, const Tensor& tensor, Tensor& gathered) {
  // TODO: up one tree, down another.
  // gather_tree and broadcast_tree exist (include their headers).
  // Before you run it: how many rounds, and how many bytes in each?
  throw NotImplemented("allgather_tree");
}

}  // namespace rankbox
