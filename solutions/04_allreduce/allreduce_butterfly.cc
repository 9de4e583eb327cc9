#include "collectives/allreduce_butterfly.h"

#include "collectives/average.h"
#include "collectives/topology.h"

namespace rankbox {

void allreduce_butterfly(Comm& dist, Tensor& tensor, ReduceOp op) {
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

  // 2. Swap and add. Both partners need the other's old value, so both send before either adds.
  //    What they then add is a + b on one side and b + a on the other, the same to the last bit.
  for (int distance = 1; distance < core; distance *= 2) {
    const int partner = rank ^ distance;
    dist.sendrecv(tensor, partner, received, partner);
    accumulate(tensor, received, op);
  }
  divide_if_average(tensor, op, world_size);

  // 3. Unfold.
  if (rank + core < world_size) {
    dist.send(tensor, rank + core);
  }
}

}  // namespace rankbox
