// As in MPICH: of the first 2r ranks the even ones fold into the odd ones, r = p - q.
#include "collectives/allreduce_butterfly.h"
#include "collectives/average.h"
#include "collectives/topology.h"

namespace rankbox {

void allreduce_butterfly(Comm& dist, Tensor& tensor, ReduceOp op) {
  const int world_size = dist.world_size();
  const int rank = dist.rank();
  const int core = largest_power_of_two(world_size);
  const int extra = world_size - core;
  const bool folds = rank < 2 * extra;
  if (folds && rank % 2 == 0) {
    dist.send(tensor, rank + 1);
    dist.recv(tensor, rank + 1);
    return;
  }
  Tensor received = empty_like(tensor);
  if (folds) {
    dist.recv(received, rank - 1);
    accumulate(tensor, received, op);
  }
  const int me = folds ? rank / 2 : rank - extra;
  for (int mask = 1; mask < core; mask *= 2) {
    const int other = me ^ mask;
    const int partner = other < extra ? 2 * other + 1 : other + extra;
    dist.sendrecv(tensor, partner, received, partner);
    accumulate(tensor, received, op);
  }
  divide_if_average(tensor, op, world_size);
  if (folds) dist.send(tensor, rank - 1);
}

}  // namespace rankbox
