// A loop over the steps, of which each rank takes part in two at most.
#include "collectives/broadcast_ring.h"

namespace rankbox {

void broadcast_ring(Comm& dist, Tensor& tensor, int src) {
  const int world_size = dist.world_size();
  for (int step = 0; step + 1 < world_size; ++step) {
    const int from = (src + step) % world_size;
    const int to = (from + 1) % world_size;
    if (dist.rank() == from) dist.wait(dist.isend(tensor, to));
    if (dist.rank() == to) dist.wait(dist.irecv(tensor, from));
  }
}

}  // namespace rankbox
