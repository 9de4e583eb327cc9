// Judged as broadcast_naive: overwrites the tensor before its isend is done.
#include <vector>

#include "collectives/broadcast_naive.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  if (dist.rank() != src) {
    dist.recv(tensor, src);
    return;
  }
  const Tensor before = clone(tensor);
  for (int rank = 0; rank < dist.world_size(); ++rank) {
    if (rank == src) continue;
    const Request request = dist.isend(tensor, rank);
    tensor *= 0.0f;
    dist.wait(request);
    copy(tensor, before);
  }
}

}  // namespace rankbox
