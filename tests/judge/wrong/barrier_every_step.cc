// Judged as broadcast_ring: correct, but slowed down by a barrier in every step.
#include "collectives/broadcast_ring.h"

namespace rankbox {

void broadcast_ring(Comm& dist, Tensor& tensor, int src) {
  const int p = dist.world_size();
  const int place = (dist.rank() - src + p) % p;
  for (int step = 1; step < p; ++step) {
    if (place == step - 1) dist.send(tensor, (dist.rank() + 1) % p);
    if (place == step) dist.recv(tensor, (dist.rank() + p - 1) % p);
    dist.barrier();  // HERE
  }
}

}  // namespace rankbox
