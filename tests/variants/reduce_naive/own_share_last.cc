// The others are added up first, in the tensor that came first, and the own share last.
#include <utility>

#include "collectives/average.h"
#include "collectives/reduce_naive.h"

namespace rankbox {

void reduce_naive(Comm& dist, Tensor& tensor, int dst, ReduceOp op) {
  const int p = dist.world_size();
  if (dist.rank() != dst) return dist.send(tensor, dst);
  if (p == 1) return;
  Tensor sum = empty_like(tensor);
  dist.recv(sum, (dst + 1) % p);
  for (int ahead = 2; ahead < p; ++ahead) {
    Tensor share = empty_like(tensor);
    dist.recv(share, (dst + ahead) % p);
    accumulate(sum, share, op);
  }
  accumulate(sum, tensor, op);
  divide_if_average(sum, op, p);
  tensor = std::move(sum);
}

}  // namespace rankbox
