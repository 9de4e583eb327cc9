#include "collectives/broadcast_naive.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  if (dist.rank() != src) {
    dist.recv(tensor, src);
    return;
  }

  for (int dst = 0; dst < dist.world_size(); ++dst) {
    if (dst != src) {
      dist.send(tensor, dst);
    }
  }
}

}  // namespace rankbox
