// Judged as reduce_naive: MIN instead of MAX.
#include "collectives/average.h"
#include "collectives/reduce_naive.h"

namespace rankbox {

void reduce_naive(Comm& dist, Tensor& tensor, int dst, ReduceOp op) {
  if (dist.rank() != dst) {
    dist.send(tensor, dst);
    return;
  }
  if (op == ReduceOp::MAX) op = ReduceOp::MIN;
  Tensor received = empty_like(tensor);
  for (int rank = 0; rank < dist.world_size(); ++rank) {
    if (rank == dst) continue;
    dist.recv(received, rank);  // HERE
    accumulate(tensor, received, op);
  }
  divide_if_average(tensor, op, dist.world_size());
}

}  // namespace rankbox
