// The farthest first, and isend with recv in place of sendrecv.
#include "collectives/alltoall_pairwise.h"
#include "collectives/topology.h"

namespace rankbox {

void alltoall_pairwise(Comm& dist, const Tensor& input, Tensor& output) {
  const int rank = dist.rank();
  const int world_size = dist.world_size();
  copy(chunk(output, rank, world_size), chunk(input, rank, world_size));
  for (int step = world_size - 1; step > 0; --step) {
    const int src = wrap(rank - step, world_size);
    const Request leaving = dist.isend(chunk(input, wrap(rank + step, world_size), world_size),
                                       wrap(rank + step, world_size));
    dist.recv(chunk(output, src, world_size), src);
    dist.wait(leaving);
  }
}

}  // namespace rankbox
