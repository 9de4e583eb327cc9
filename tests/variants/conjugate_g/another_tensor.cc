// A sum in a tensor of its own; one rank asks nobody.
#include "parallel/conjugate_g.h"

namespace rankbox {

void conjugate_g(Comm& dist, Direction direction, Tensor& tensor) {
  const bool sums = direction == Direction::kForward;
  if (!sums || dist.world_size() == 1) return;
  Tensor sum = clone(tensor);
  dist.all_reduce(sum, ReduceOp::SUM);
  tensor = std::move(sum);
}

}  // namespace rankbox
