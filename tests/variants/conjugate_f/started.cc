// Started, then waited for.
#include "parallel/conjugate_f.h"

namespace rankbox {

void conjugate_f(Comm& dist, Direction direction, Tensor& tensor) {
  if (direction != Direction::kBackward) return;
  Request request = dist.all_reduce_async(tensor, ReduceOp::SUM);
  dist.wait(request);
}

}  // namespace rankbox
