// Judged as broadcast_naive: src sends less than the others expect.
#include "collectives/broadcast_naive.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  if (dist.rank() != src) {
    dist.recv(tensor, src);
    return;
  }
  for (int rank = 0; rank < dist.world_size(); ++rank) {
    if (rank != src) dist.send(chunk(tensor, 0, 2), rank);
  }
}

}  // namespace rankbox
