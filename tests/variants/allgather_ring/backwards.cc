// The ring the other way round, and the place that comes is the next place that leaves.
#include "collectives/allgather_ring.h"
#include "collectives/topology.h"

namespace rankbox {

void allgather_ring(Comm& dist, const Tensor& tensor, Tensor& gathered) {
  const int rank = dist.rank();
  const int world_size = dist.world_size();
  int leaving = rank;
  copy(chunk(gathered, rank, world_size), tensor);
  for (int left = world_size - 1; left > 0; --left) {
    const int coming = next_rank(leaving, world_size);
    dist.sendrecv(chunk(gathered, leaving, world_size), prev_rank(rank, world_size),
                  chunk(gathered, coming, world_size), next_rank(rank, world_size));
    leaving = coming;
  }
}

}  // namespace rankbox
