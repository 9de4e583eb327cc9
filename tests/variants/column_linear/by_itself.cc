// Without f: the all-reduce stands here.
#include "parallel/column_linear.h"

namespace rankbox {

void column_linear(Comm& dist, Linear& shard, Direction direction, Tensor& tensor, Saved& saved) {
  if (direction == Direction::kForward) {
    tensor = shard.forward(tensor, saved);
    return;
  }
  Tensor dx = shard.backward(tensor, saved);
  dist.all_reduce(dx, ReduceOp::SUM);
  tensor = std::move(dx);
}

}  // namespace rankbox
