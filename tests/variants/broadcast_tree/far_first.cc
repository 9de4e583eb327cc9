// As in MPICH: receive from the parent, then serve the children, the farthest first.
#include "collectives/broadcast_tree.h"
#include "collectives/topology.h"

namespace rankbox {

void broadcast_tree(Comm& dist, Tensor& tensor, int src) {
  const int world_size = dist.world_size();
  const int place = virtual_rank_of(dist.rank(), src, world_size);
  int mask = 1;
  while (mask < world_size && (place & mask) == 0) mask *= 2;
  if (place != 0) dist.recv(tensor, rank_of(place - mask, src, world_size));
  for (mask /= 2; mask > 0; mask /= 2) {
    if (place + mask < world_size) dist.send(tensor, rank_of(place + mask, src, world_size));
  }
}

}  // namespace rankbox
