// The ring the other way round: chunk c sets out from rank c-1.
#include "collectives/average.h"
#include "collectives/reduce_scatter_ring.h"
#include "collectives/topology.h"

namespace rankbox {

void reduce_scatter_ring(Comm& dist, Tensor& tensor, Tensor& piece, ReduceOp op) {
  const int rank = dist.rank();
  const int world_size = dist.world_size();
  const auto part = [&](int c) { return chunk(tensor, wrap(c, world_size), world_size); };
  for (int step = 1; step < world_size; ++step) {
    const Slice share = part(rank + 1 + step);
    Tensor received(share.size());
    dist.sendrecv(part(rank + step), prev_rank(rank, world_size), received,
                  next_rank(rank, world_size));
    accumulate(share, received, op);
  }
  copy(piece, part(rank));
  divide_if_average(piece, op, world_size);
}

}  // namespace rankbox
