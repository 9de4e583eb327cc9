#include "collectives/reduce_scatter_gather.h"

#include <vector>

#include "collectives/average.h"
#include "collectives/topology.h"

namespace rankbox {

void reduce_scatter_gather(Comm& dist, Tensor& tensor, int dst, ReduceOp op) {
  const int world_size = dist.world_size();
  const int core = largest_power_of_two(world_size);
  const int virtual_rank = virtual_rank_of(dist.rank(), dst, world_size);
  const auto actual = [&](int other) { return rank_of(other, dst, world_size); };

  // 1. Fold the ranks beyond the power of two into the first ones.
  if (virtual_rank >= core) {
    dist.send(tensor, actual(virtual_rank - core));
    return;
  }
  Tensor received = empty_like(tensor);
  if (virtual_rank + core < world_size) {
    dist.recv(received, actual(virtual_rank + core));
    accumulate(tensor, received, op);
  }

  // 2. Halve: ranges.back() is what I still add up; those before it are wider, for the way back.
  std::vector<Slice> ranges = {tensor};
  for (int distance = 1; distance < core; distance *= 2) {
    const int partner = actual(virtual_rank ^ distance);
    const int half = (virtual_rank & distance) == 0 ? 0 : 1;
    const Slice mine = chunk(ranges.back(), half, 2);
    const Slice incoming = Slice(received).sub(0, mine.size());
    dist.sendrecv(chunk(ranges.back(), 1 - half, 2), partner, incoming, partner);
    accumulate(mine, incoming, op);
    ranges.push_back(mine);
  }
  divide_if_average(ranges.back(), op, world_size);

  // 3. Gather, the same way back. The rank of the lower half collects; the other one is done.
  for (int distance = core / 2; distance >= 1; distance /= 2) {
    const int partner = actual(virtual_rank ^ distance);
    if ((virtual_rank & distance) != 0) {
      dist.send(ranges.back(), partner);
      return;
    }
    ranges.pop_back();
    dist.recv(chunk(ranges.back(), 1, 2), partner);
  }
}

}  // namespace rankbox
