#include "collectives/reduce_naive.h"

#include "collectives/average.h"

namespace rankbox {

void reduce_naive(Comm& dist, Tensor& tensor, int dst, ReduceOp op) {
  if (dist.rank() != dst) {
    dist.send(tensor, dst);
    return;
  }

  // A received tensor must not overwrite this rank's: it needs its own buffer, one for all.
  Tensor received = empty_like(tensor);
  for (int src = 0; src < dist.world_size(); ++src) {
    if (src != dst) {
      dist.recv(received, src);
      accumulate(tensor, received, op);
    }
  }
  divide_if_average(tensor, op, dist.world_size());
}

}  // namespace rankbox
