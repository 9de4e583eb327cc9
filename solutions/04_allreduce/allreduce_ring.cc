#include "collectives/allreduce_ring.h"

#include "collectives/average.h"
#include "collectives/topology.h"

namespace rankbox {

void allreduce_ring(Comm& dist, Tensor& tensor, ReduceOp op) {
  const int world_size = dist.world_size();
  const int rank = dist.rank();
  const int next = next_rank(rank, world_size);
  const int prev = prev_rank(rank, world_size);
  const auto part = [&](int c) { return chunk(tensor, wrap(c, world_size), world_size); };

  // A received chunk is added to the local one, so it needs its own buffer. The largest chunk has
  // ⌈N/p⌉ elements, few enough to be still in the cache when it is added.
  Tensor buffer((tensor.size() + world_size - 1) / world_size);

  // 1. Reduce: pass on the chunk that came last, with my share added; my own chunk first.
  for (int step = 0; step < world_size - 1; ++step) {
    const Slice leaving = part(rank - step);
    const Slice coming = part(rank - step - 1);
    const Slice received = Slice(buffer).sub(0, coming.size());
    dist.sendrecv(leaving, next, received, prev);
    accumulate(coming, received, op);
  }

  // The last chunk to arrive has been everywhere: it is complete.
  divide_if_average(part(rank + 1), op, world_size);

  // 2. Gather: pass on the complete chunk that came last, mine first. Straight into place: what is
  //    there has already been added.
  for (int step = 0; step < world_size - 1; ++step) {
    dist.sendrecv(part(rank + 1 - step), next, part(rank - step), prev);
  }
}

}  // namespace rankbox
