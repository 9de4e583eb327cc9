// Halving and gathering as one recursion: what is halved on the way in is gathered on the way
// out.
#include "collectives/average.h"
#include "collectives/reduce_scatter_gather.h"
#include "collectives/topology.h"

namespace rankbox {

namespace {

void reduce_range(Comm& dist, Slice range, int dst, ReduceOp op, int distance, int core) {
  const int world_size = dist.world_size();
  if (distance == core) return divide_if_average(range, op, world_size);
  const int place = virtual_rank_of(dist.rank(), dst, world_size);
  const int partner = rank_of(place ^ distance, dst, world_size);
  const bool upper = (place & distance) != 0;
  const Slice mine = chunk(range, upper ? 1 : 0, 2);
  const Slice theirs = chunk(range, upper ? 0 : 1, 2);

  Tensor received(mine.size());
  dist.sendrecv(theirs, partner, received, partner);
  accumulate(mine, received, op);
  reduce_range(dist, mine, dst, op, 2 * distance, core);
  if (upper) {
    dist.send(mine, partner);
  } else {
    dist.recv(theirs, partner);
  }
}

}  // namespace

void reduce_scatter_gather(Comm& dist, Tensor& tensor, int dst, ReduceOp op) {
  const int world_size = dist.world_size();
  const int core = largest_power_of_two(world_size);
  const int place = virtual_rank_of(dist.rank(), dst, world_size);
  if (place >= core) return dist.send(tensor, rank_of(place - core, dst, world_size));
  if (place + core < world_size) {
    Tensor received = empty_like(tensor);
    dist.recv(received, rank_of(place + core, dst, world_size));
    accumulate(tensor, received, op);
  }
  reduce_range(dist, tensor, dst, op, 1, core);
}

}  // namespace rankbox
