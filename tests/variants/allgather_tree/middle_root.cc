// Two calls, with the rank in the middle as their root.
#include "collectives/allgather_tree.h"
#include "collectives/broadcast_tree.h"
#include "collectives/gather_tree.h"

namespace rankbox {

void allgather_tree(Comm& dist, const Tensor& tensor, Tensor& gathered) {
  const int root = dist.world_size() / 2;
  gather_tree(dist, tensor, gathered, root);
  broadcast_tree(dist, gathered, root);
}

}  // namespace rankbox
