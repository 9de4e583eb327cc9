// Both halves written out; rank 0 posts its receives at once and sends to the last rank first.
#include <vector>

#include "collectives/allgather_naive.h"

namespace rankbox {

void allgather_naive(Comm& dist, const Tensor& tensor, Tensor& gathered) {
  const int world_size = dist.world_size();
  if (dist.rank() != 0) {
    dist.send(tensor, 0);
    dist.recv(gathered, 0);
    return;
  }
  std::vector<Request> coming;
  for (int src = 1; src < world_size; ++src) {
    coming.push_back(dist.irecv(chunk(gathered, src, world_size), src));
  }
  copy(chunk(gathered, 0, world_size), tensor);
  dist.wait_all(coming);
  for (int dst = world_size - 1; dst > 0; --dst) dist.send(gathered, dst);
}

}  // namespace rankbox
