// From the other end: the far half of the ranks hands over first.
#include "collectives/average.h"
#include "collectives/reduce_tree.h"
#include "collectives/topology.h"

namespace rankbox {

void reduce_tree(Comm& dist, Tensor& tensor, int dst, ReduceOp op) {
  const int world_size = dist.world_size();
  const int place = virtual_rank_of(dist.rank(), dst, world_size);
  Tensor received = empty_like(tensor);
  for (int half = 1 << rounds(world_size) >> 1; half >= 1; half /= 2) {
    if (place >= half) return dist.send(tensor, rank_of(place - half, dst, world_size));
    if (place + half >= world_size || place + half >= 2 * half) continue;
    dist.recv(received, rank_of(place + half, dst, world_size));
    accumulate(tensor, received, op);
  }
  divide_if_average(tensor, op, world_size);
}

}  // namespace rankbox
