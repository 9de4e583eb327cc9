// Judged as broadcast_naive: a barrier, which is not allowed, and values that are wrong besides.
#include "collectives/broadcast_naive.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  dist.barrier();
  if (dist.rank() != src) {
    dist.recv(tensor, src);  // HERE
    tensor += full(tensor.size(), 1.0f);
    return;
  }
  for (int rank = 0; rank < dist.world_size(); ++rank) {
    if (rank != src) dist.send(tensor, rank);
  }
}

}  // namespace rankbox
