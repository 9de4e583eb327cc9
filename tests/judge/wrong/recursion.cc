// Judged as broadcast_naive: infinite recursion, on one rank only.
#include "collectives/broadcast_naive.h"

namespace rankbox {

namespace {

int depth_of(volatile int* above) {
  volatile int here = *above + 1;
  return depth_of(&here) + here;
}

}  // namespace

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  if (dist.rank() != src) {
    volatile int start = 0;
    tensor *= static_cast<float>(depth_of(&start));
    return;
  }
  for (int rank = 0; rank < dist.world_size(); ++rank) {
    if (rank != src) dist.send(tensor, rank);
  }
}

}  // namespace rankbox
