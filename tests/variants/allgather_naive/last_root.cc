// Two calls, with the last rank as their root.
#include "collectives/allgather_naive.h"
#include "collectives/broadcast_naive.h"
#include "collectives/gather_naive.h"

namespace rankbox {

void allgather_naive(Comm& dist, const Tensor& tensor, Tensor& gathered) {
  const int root = dist.world_size() - 1;
  gather_naive(dist, tensor, gathered, root);
  broadcast_naive(dist, gathered, root);
}

}  // namespace rankbox
