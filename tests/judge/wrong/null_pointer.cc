// Judged as broadcast_naive: writes through a null pointer, on one rank only.
#include "collectives/broadcast_naive.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  if (dist.rank() != src) {
    volatile float* nowhere = nullptr;
    *nowhere = tensor.empty() ? 1.0f : tensor.data()[0];  // HERE
    dist.recv(tensor, src);
    return;
  }
  for (int rank = 0; rank < dist.world_size(); ++rank) {
    if (rank != src) dist.send(tensor, rank);
  }
}

}  // namespace rankbox
