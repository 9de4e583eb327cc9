// Partners far away first, on the way there; last, on the way back.
#include <vector>

#include "collectives/allreduce_rabenseifner.h"
#include "collectives/average.h"
#include "collectives/topology.h"

namespace rankbox {

void allreduce_rabenseifner(Comm& dist, Tensor& tensor, ReduceOp op) {
  const int world_size = dist.world_size();
  const int core = largest_power_of_two(world_size);
  const int rank = dist.rank();

  // 1. Fold: a rank beyond the power of two lets another rank do its work.
  if (rank >= core) {
    dist.send(tensor, rank - core);
    dist.recv(tensor, rank - core);
    return;
  }
  Tensor received = empty_like(tensor);
  if (rank + core < world_size) {
    dist.recv(received, rank + core);
    accumulate(tensor, received, op);
  }

  // 2. Halve: ranges.back() is what I still add up; those before it are wider, for the way back.
  std::vector<Slice> ranges = {tensor};
  for (int distance = core / 2; distance >= 1; distance /= 2) {
    const int partner = rank ^ distance;
    const int half = (rank & distance) == 0 ? 0 : 1;
    const Slice mine = chunk(ranges.back(), half, 2);
    const Slice incoming = Slice(received).sub(0, mine.size());
    dist.sendrecv(chunk(ranges.back(), 1 - half, 2), partner, incoming, partner);
    accumulate(mine, incoming, op);
    ranges.push_back(mine);
  }
  divide_if_average(ranges.back(), op, world_size);

  // 3. Double, the same way back: swap the two halves of the wider range. Straight into place.
  for (int distance = 1; distance < core; distance *= 2) {
    const int partner = rank ^ distance;
    const int half = (rank & distance) == 0 ? 0 : 1;
    const Slice mine = ranges.back();
    ranges.pop_back();
    dist.sendrecv(mine, partner, chunk(ranges.back(), 1 - half, 2), partner);
  }

  // 4. Unfold.
  if (rank + core < world_size) {
    dist.send(tensor, rank + core);
  }
}

}  // namespace rankbox
