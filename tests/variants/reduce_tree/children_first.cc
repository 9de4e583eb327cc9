// Collect from all children, whose number the lowest bit tells, then send once.
#include "collectives/average.h"
#include "collectives/reduce_tree.h"
#include "collectives/topology.h"

namespace rankbox {

void reduce_tree(Comm& dist, Tensor& tensor, int dst, ReduceOp op) {
  const int world_size = dist.world_size();
  const int place = virtual_rank_of(dist.rank(), dst, world_size);
  const int lowest_bit = place == 0 ? 1 << rounds(world_size) : place & -place;
  for (int below = 1; below < lowest_bit && place + below < world_size; below *= 2) {
    Tensor share = empty_like(tensor);
    dist.wait(dist.irecv(share, rank_of(place + below, dst, world_size)));
    accumulate(tensor, share, op);
  }
  if (place != 0) {
    dist.wait(dist.isend(tensor, rank_of(place - lowest_bit, dst, world_size)));
  } else {
    divide_if_average(tensor, op, world_size);
  }
}

}  // namespace rankbox
