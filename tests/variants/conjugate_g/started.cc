// Started, then waited for.
#include "parallel/conjugate_g.h"

namespace rankbox {

void conjugate_g(Comm& dist, Direction direction, Tensor& tensor) {
  if (direction != Direction::kForward) return;
  Request request = dist.all_reduce_async(tensor, ReduceOp::SUM);
  dist.wait(request);
}

}  // namespace rankbox
