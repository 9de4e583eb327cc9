#include "parallel/conjugate_g.h"

namespace rankbox {

void conjugate_g(Comm& dist, Direction direction, Tensor& tensor) {
  if (direction == Direction::kForward) dist.all_reduce(tensor, ReduceOp::SUM);
}

}  // namespace rankbox
