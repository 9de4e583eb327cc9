#include "collectives/alltoall_pairwise.h"

#include "collectives/topology.h"

namespace rankbox {

void alltoall_pairwise(Comm& dist, const Tensor& input, Tensor& output) {
  const int rank = dist.rank();
  const int world_size = dist.world_size();

  // 1. My own chunk stays here.
  copy(chunk(output, rank, world_size), chunk(input, rank, world_size));

  // 2. Every rank sends equally far ahead, so each receives from exactly one: no rank has two
  //    messages waiting while another has none.
  for (int step = 1; step < world_size; ++step) {
    const int dst = wrap(rank + step, world_size);
    const int src = wrap(rank - step, world_size);
    dist.sendrecv(chunk(input, dst, world_size), dst, chunk(output, src, world_size), src);
  }
}

}  // namespace rankbox
