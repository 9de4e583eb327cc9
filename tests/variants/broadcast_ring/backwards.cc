// The ring the other way round.
#include "collectives/broadcast_ring.h"
#include "collectives/topology.h"

namespace rankbox {

void broadcast_ring(Comm& dist, Tensor& tensor, int src) {
  const int world_size = dist.world_size();
  const int rank = dist.rank();
  const int hops = wrap(src - rank, world_size);
  if (hops > 0) dist.recv(tensor, next_rank(rank, world_size));
  if (hops < world_size - 1) dist.send(tensor, prev_rank(rank, world_size));
}

}  // namespace rankbox
