// The first half is reduce_scatter_ring. The second is written out: allgather_ring wants pieces of
// one size.
#include "collectives/allreduce_ring.h"
#include "collectives/reduce_scatter_ring.h"
#include "collectives/topology.h"

namespace rankbox {

void allreduce_ring(Comm& dist, Tensor& tensor, ReduceOp op) {
  const int world_size = dist.world_size();
  const int rank = dist.rank();
  const auto part = [&](int c) { return chunk(tensor, wrap(c, world_size), world_size); };
  Tensor piece(part(rank).size());
  reduce_scatter_ring(dist, tensor, piece, op);
  copy(part(rank), piece);
  for (int step = 0; step < world_size - 1; ++step) {
    dist.sendrecv(part(rank - step), next_rank(rank, world_size), part(rank - step - 1),
                  prev_rank(rank, world_size));
  }
}

}  // namespace rankbox
