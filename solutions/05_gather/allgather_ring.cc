#include "collectives/allgather_ring.h"

#include "collectives/topology.h"

namespace rankbox {

void allgather_ring(Comm& dist, const Tensor& tensor, Tensor& gathered) {
  const int rank = dist.rank();
  const int world_size = dist.world_size();
  const int next = next_rank(rank, world_size);
  const int prev = prev_rank(rank, world_size);

  // 1. My own tensor is the first thing I have to pass on.
  copy(chunk(gathered, rank, world_size), tensor);

  // 2. Pass on what came last: in step s, the tensor of the rank s before me. The one received is
  //    from one rank further back. Everything lands in its place, where the next step picks it up.
  for (int step = 0; step < world_size - 1; ++step) {
    const Slice newest = chunk(gathered, wrap(rank - step, world_size), world_size);
    const Slice coming = chunk(gathered, wrap(rank - step - 1, world_size), world_size);
    dist.sendrecv(newest, next, coming, prev);
  }
}

}  // namespace rankbox
