#include "collectives/broadcast_tree.h"

#include "collectives/topology.h"

namespace rankbox {

void broadcast_tree(Comm& dist, Tensor& tensor, int src) {
  const int world_size = dist.world_size();
  const int virtual_rank = virtual_rank_of(dist.rank(), src, world_size);

  // Before every round the virtual ranks 0, …, have-1 have the tensor. Each serves the rank `have`
  // above it, which doubles their number; in the last round some have no partner.
  for (int have = 1; have < world_size; have *= 2) {
    if (virtual_rank < have) {
      const int child = virtual_rank + have;
      if (child < world_size) {
        dist.send(tensor, rank_of(child, src, world_size));
      }
    } else if (virtual_rank < 2 * have) {
      const int parent = virtual_rank - have;
      dist.recv(tensor, rank_of(parent, src, world_size));
    }
  }
}

}  // namespace rankbox
