// Judged as broadcast_naive: one superfluous message, which no rank receives.
#include "collectives/broadcast_naive.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  if (dist.rank() != src) {
    dist.recv(tensor, src);
    return;
  }
  for (int rank = 0; rank < dist.world_size(); ++rank) {
    if (rank == src) continue;
    dist.send(tensor, rank);
    (void)dist.isend(tensor, rank);  // HERE
  }
}

}  // namespace rankbox
