// The ring the other way round.
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
  Tensor buffer((tensor.size() + world_size - 1) / world_size);
  for (int step = 0; step < world_size - 1; ++step) {
    const Slice coming = part(rank + step + 1);
    const Slice received = Slice(buffer).sub(0, coming.size());
    dist.sendrecv(part(rank + step), prev, received, next);
    accumulate(coming, received, op);
  }
  divide_if_average(part(rank - 1), op, world_size);
  for (int step = 0; step < world_size - 1; ++step) {
    dist.sendrecv(part(rank - 1 + step), prev, part(rank + step), next);
  }
}

}  // namespace rankbox
