#include "collectives/allreduce_naive.h"

#include "collectives/broadcast_naive.h"
#include "collectives/reduce_naive.h"

namespace rankbox {

void allreduce_naive(Comm& dist, Tensor& tensor, ReduceOp op) {
  // Any root works, as long as all ranks use the same one.
  reduce_naive(dist, tensor, 0, op);
  broadcast_naive(dist, tensor, 0);
}

}  // namespace rankbox
