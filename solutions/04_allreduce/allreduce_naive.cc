#include "collectives/allreduce_naive.h"

#include "collectives/broadcast_naive.h"
#include "collectives/reduce_naive.h"

namespace rankbox {

void allreduce_naive(Comm& dist, Tensor& tensor, ReduceOp op) {
  // Any root would do, as long as all ranks mean the same one.
  reduce_naive(dist, tensor, 0, op);
  broadcast_naive(dist, tensor, 0);
}

}  // namespace rankbox
