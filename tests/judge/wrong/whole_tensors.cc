// Judged as allreduce_ring: right values, but sends whole tensors where chunks are enough.
#include "collectives/allreduce_ring.h"
#include "collectives/average.h"

namespace rankbox {

void allreduce_ring(Comm& dist, Tensor& tensor, ReduceOp op) {
  const int p = dist.world_size();
  const int next = (dist.rank() + 1) % p;
  const int prev = (dist.rank() + p - 1) % p;
  Tensor passing = clone(tensor);
  Tensor received = empty_like(tensor);
  for (int step = 0; step < p - 1; ++step) {
    dist.sendrecv(passing, next, received, prev);  // HERE
    accumulate(tensor, received, op);
    std::swap(passing, received);
  }
  divide_if_average(tensor, op, p);
}

}  // namespace rankbox
