// Judged as broadcast_ring: messages of the right number and size, but with wrong data.
#include "collectives/broadcast_ring.h"

namespace rankbox {

void broadcast_ring(Comm& dist, Tensor& tensor, int src) {
  const int p = dist.world_size();
  const int place = (dist.rank() - src + p) % p;
  Tensor junk = zeros(tensor.shape());
  if (place > 0) dist.recv(junk, (dist.rank() + p - 1) % p);  // HERE
  if (place < p - 1) dist.send(junk, (dist.rank() + 1) % p);
}

}  // namespace rankbox
