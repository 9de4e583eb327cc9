#include "collectives/broadcast_ring.h"

#include "collectives/topology.h"

namespace rankbox {

void broadcast_ring(Comm& dist, Tensor& tensor, int src) {
  const int world_size = dist.world_size();
  const int virtual_rank = virtual_rank_of(dist.rank(), src, world_size);

  // No rounds, no counting: each rank passes the tensor on once it has it. src has it already, and
  // the last rank need not send it back.
  if (virtual_rank != 0) {
    dist.recv(tensor, prev_rank(dist.rank(), world_size));
  }
  if (virtual_rank != world_size - 1) {
    dist.send(tensor, next_rank(dist.rank(), world_size));
  }
}

}  // namespace rankbox
