// The farthest partner first, and requests instead of sendrecv.
#include "collectives/allreduce_butterfly.h"
#include "collectives/average.h"
#include "collectives/topology.h"

namespace rankbox {

void allreduce_butterfly(Comm& dist, Tensor& tensor, ReduceOp op) {
  const int world_size = dist.world_size();
  const int rank = dist.rank();
  const int core = largest_power_of_two(world_size);
  const bool has_twin = rank + core < world_size;
  Tensor received = empty_like(tensor);
  if (rank >= core) dist.send(tensor, rank - core);
  if (has_twin) {
    dist.recv(received, rank + core);
    accumulate(tensor, received, op);
  }
  for (int distance = core / 2; distance >= 1 && rank < core; distance /= 2) {
    const Request coming = dist.irecv(received, rank ^ distance);
    const Request leaving = dist.isend(tensor, rank ^ distance);
    dist.wait(leaving);
    dist.wait(coming);
    accumulate(tensor, received, op);
  }
  if (has_twin) dist.send(tensor, rank + core);
  if (rank >= core) dist.recv(tensor, rank - core);
  divide_if_average(tensor, op, world_size);
}

}  // namespace rankbox
