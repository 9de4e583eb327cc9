#include "collectives/alltoall_pairwise.h"

#include "collectives/topology.h"

namespace rankbox {

void alltoall_pairwise(Comm& dist, const Tensor& input, Tensor& output) {
  const int rank = dist.rank();
  const int world_size = dist.world_size();

  // 1. What I have for myself stays here.
  copy(chunk(output, rank, world_size), chunk(input, rank, world_size));

  // 2. Everyone looks equally far ahead, and is thus looked at by exactly one: nobody has two
  //    messages at the door while another has none.
  for (int step = 1; step < world_size; ++step) {
    const int dst = wrap(rank + step, world_size);
    const int src = wrap(rank - step, world_size);
    dist.sendrecv(chunk(input, dst, world_size), dst, chunk(output, src, world_size), src);
  }
}

}  // namespace rankbox
