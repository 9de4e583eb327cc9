// As in MPICH: of the first 2r virtual ranks the odd ones fold into the even ones, r = p - q.
#include <vector>

#include "collectives/average.h"
#include "collectives/reduce_scatter_gather.h"
#include "collectives/topology.h"

namespace rankbox {

void reduce_scatter_gather(Comm& dist, Tensor& tensor, int dst, ReduceOp op) {
  const int world_size = dist.world_size();
  const int core = largest_power_of_two(world_size);
  const int extra = world_size - core;
  const int place = virtual_rank_of(dist.rank(), dst, world_size);
  Tensor received = empty_like(tensor);

  if (place < 2 * extra && place % 2 == 1) {
    return dist.send(tensor, rank_of(place - 1, dst, world_size));
  }
  if (place < 2 * extra) {
    dist.recv(received, rank_of(place + 1, dst, world_size));
    accumulate(tensor, received, op);
  }
  const int me = place < 2 * extra ? place / 2 : place - extra;
  const auto actual = [&](int other) {
    return rank_of(other < extra ? 2 * other : other + extra, dst, world_size);
  };

  std::vector<Slice> ranges = {tensor};
  for (int distance = 1; distance < core; distance *= 2) {
    const int half = (me & distance) == 0 ? 0 : 1;
    const Slice mine = chunk(ranges.back(), half, 2);
    const Slice share = Slice(received).sub(0, mine.size());
    const Request coming = dist.irecv(share, actual(me ^ distance));
    dist.send(chunk(ranges.back(), 1 - half, 2), actual(me ^ distance));
    dist.wait(coming);
    accumulate(mine, share, op);
    ranges.push_back(mine);
  }
  divide_if_average(ranges.back(), op, world_size);

  for (int distance = core / 2; distance >= 1; distance /= 2) {
    if ((me & distance) != 0) return dist.send(ranges.back(), actual(me ^ distance));
    ranges.pop_back();
    dist.recv(chunk(ranges.back(), 1, 2), actual(me ^ distance));
  }
}

}  // namespace rankbox
