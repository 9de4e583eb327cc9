#include "collectives/allreduce_ring.h"

namespace rankbox {

void allreduce_ring(Comm& dist, Tensor& tensor, ReduceOp op) {
  // TODO: 1. p-1 steps in which chunks collect their sums; 2. p-1 steps in which sums travel on.
  // Which chunk do I send in step s, and which do I receive? Draw the ring for p = 3.
  // After step 1, which chunk is complete here? A chunk may be empty; wrap(i, n) walks backwards.
  throw NotImplemented("allreduce_ring");
}

}  // namespace rankbox
