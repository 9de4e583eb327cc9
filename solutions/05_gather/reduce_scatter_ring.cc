#include "collectives/reduce_scatter_ring.h"

#include "collectives/average.h"
#include "collectives/topology.h"

namespace rankbox {

void reduce_scatter_ring(Comm& dist, Tensor& tensor, Tensor& piece, ReduceOp op) {
  const int rank = dist.rank();
  const int world_size = dist.world_size();
  const int next = next_rank(rank, world_size);
  const int prev = prev_rank(rank, world_size);

  // 1. A received chunk is added to the local one, so it needs its own buffer. The largest chunk
  //    has ⌈N/p⌉ elements.
  Tensor buffer((tensor.size() + world_size - 1) / world_size);

  // 2. Send on the chunk that came last, with my share added. The first to leave is the previous
  //    rank's: it has the whole way round ahead of it, as mine had, which arrives in the last step.
  for (int step = 0; step < world_size - 1; ++step) {
    const Slice leaving = chunk(tensor, wrap(rank - 1 - step, world_size), world_size);
    const Slice share = chunk(tensor, wrap(rank - 2 - step, world_size), world_size);
    const Slice received = Slice(buffer).sub(0, share.size());
    dist.sendrecv(leaving, next, received, prev);
    accumulate(share, received, op);
  }

  // 3. My chunk is complete.
  copy(piece, chunk(tensor, rank, world_size));
  divide_if_average(piece, op, world_size);
}

}  // namespace rankbox
