#include "collectives/allgather_tree.h"

#include "collectives/broadcast_tree.h"
#include "collectives/gather_tree.h"

namespace rankbox {

void allgather_tree(Comm& dist, const Tensor& tensor, Tensor& gathered) {
  gather_tree(dist, tensor, gathered, 0);
  broadcast_tree(dist, gathered, 0);
}

}  // namespace rankbox
