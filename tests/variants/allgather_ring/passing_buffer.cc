// What is passed on travels in a buffer of its own, and is copied to its place.
#include <utility>

#include "collectives/allgather_ring.h"

namespace rankbox {

void allgather_ring(Comm& dist, const Tensor& tensor, Tensor& gathered) {
  const int rank = dist.rank();
  const int world_size = dist.world_size();
  Tensor passing = tensor;
  for (int back = 0; back < world_size; ++back) {
    copy(chunk(gathered, (rank + world_size - back) % world_size, world_size), passing);
    if (back == world_size - 1) break;
    Tensor received = empty_like(passing);
    dist.sendrecv(passing, (rank + 1) % world_size, received, (rank + world_size - 1) % world_size);
    passing = std::move(received);
  }
}

}  // namespace rankbox
