// The tensor stays as it was: the sum travels in a buffer, to which each rank adds its share.
#include <utility>

#include "collectives/average.h"
#include "collectives/reduce_scatter_ring.h"
#include "collectives/topology.h"

namespace rankbox {

void reduce_scatter_ring(Comm& dist, Tensor& tensor, Tensor& piece, ReduceOp op) {
  const int rank = dist.rank();
  const int world_size = dist.world_size();
  const auto share = [&](int c) { return chunk(tensor, wrap(c, world_size), world_size); };
  Tensor passing(share(rank - 1).size());
  copy(passing, share(rank - 1));
  for (int step = 0; step < world_size - 1; ++step) {
    Tensor coming(share(rank - 2 - step).size());
    const Request leaving = dist.isend(passing, next_rank(rank, world_size));
    dist.recv(coming, prev_rank(rank, world_size));
    dist.wait(leaving);
    accumulate(coming, share(rank - 2 - step), op);
    passing = std::move(coming);
  }
  copy(piece, passing);
  divide_if_average(piece, op, world_size);
}

}  // namespace rankbox
