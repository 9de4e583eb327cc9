// The ranks after dst first, each share into a new tensor.
#include "collectives/reduce_naive.h"

namespace rankbox {

void reduce_naive(Comm& dist, Tensor& tensor, int dst, ReduceOp op) {
  const int world_size = dist.world_size();
  if (dist.rank() != dst) return dist.send(tensor, dst);
  for (int step = 1; step < world_size; ++step) {
    Tensor share = empty_like(tensor);
    dist.recv(share, (dst + step) % world_size);
    accumulate(tensor, share, op);
  }
  if (op == ReduceOp::AVG) tensor /= static_cast<float>(world_size);
}

}  // namespace rankbox
