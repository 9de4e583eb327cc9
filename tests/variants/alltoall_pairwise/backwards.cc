// Backwards: in step k to rank - k, from rank + k; the own chunk comes last.
#include "collectives/alltoall_pairwise.h"
#include "collectives/topology.h"

namespace rankbox {

void alltoall_pairwise(Comm& dist, const Tensor& input, Tensor& output) {
  const int rank = dist.rank();
  const int world_size = dist.world_size();
  for (int step = 1; step <= world_size; ++step) {
    const int dst = wrap(rank - step, world_size);
    const int src = wrap(rank + step, world_size);
    const Slice leaving = chunk(input, dst, world_size);
    const Slice coming = chunk(output, src, world_size);
    if (dst == rank) {
      copy(coming, leaving);
    } else {
      dist.sendrecv(leaving, dst, coming, src);
    }
  }
}

}  // namespace rankbox
