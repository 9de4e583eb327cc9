// From the last rank to the first, with requests.
#include "collectives/average.h"
#include "collectives/reduce_naive.h"

namespace rankbox {

void reduce_naive(Comm& dist, Tensor& tensor, int dst, ReduceOp op) {
  const int world_size = dist.world_size();
  if (dist.rank() != dst) return dist.send(tensor, dst);
  Tensor share = empty_like(tensor);
  for (int src = world_size - 1; src >= 0; --src) {
    if (src == dst) continue;
    const Request coming = dist.irecv(share, src);
    dist.wait(coming);
    accumulate(tensor, share, op);
  }
  divide_if_average(tensor, op, world_size);
}

}  // namespace rankbox
