// A sum in a tensor of its own; one rank asks nobody.
#include "parallel/conjugate_f.h"

namespace rankbox {

void conjugate_f(Comm& dist, Direction direction, Tensor& tensor) {
  const bool sums = direction == Direction::kBackward;
  if (!sums || dist.world_size() == 1) return;
  Tensor sum = clone(tensor);
  dist.all_reduce(sum, ReduceOp::SUM);
  tensor = std::move(sum);
}

}  // namespace rankbox
