#include "parallel/conjugate_f.h"

namespace rankbox {

void conjugate_f(Comm& dist, Direction direction, Tensor& tensor) {
  if (direction == Direction::kBackward) dist.all_reduce(tensor, ReduceOp::SUM);
}

}  // namespace rankbox
