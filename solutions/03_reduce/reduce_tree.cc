#include "collectives/reduce_tree.h"

#include "collectives/average.h"
#include "collectives/topology.h"

namespace rankbox {

void reduce_tree(Comm& dist, Tensor& tensor, int dst, ReduceOp op) {
  const int world_size = dist.world_size();
  const int virtual_rank = virtual_rank_of(dist.rank(), dst, world_size);
  Tensor received = empty_like(tensor);

  // In the round of a distance, the remaining virtual ranks are its multiples, and each holds the
  // sum of `distance` neighbours. The odd multiples send theirs to the even ones below, and are
  // done.
  for (int distance = 1; distance < world_size; distance *= 2) {
    if ((virtual_rank & distance) != 0) {
      const int parent = virtual_rank - distance;
      dist.send(tensor, rank_of(parent, dst, world_size));
      return;
    }
    const int child = virtual_rank + distance;
    if (child < world_size) {
      dist.recv(received, rank_of(child, dst, world_size));
      accumulate(tensor, received, op);
    }
  }

  // Only dst, virtual rank 0, gets here.
  divide_if_average(tensor, op, world_size);
}

}  // namespace rankbox
