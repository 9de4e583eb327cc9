// The sum is started and waited for here, without conjugate_f.
#include <utility>

#include "parallel/column_linear.h"

namespace rankbox {

void column_linear(Comm& dist, Linear& shard, Direction direction, Tensor& tensor, Saved& saved) {
  switch (direction) {
    case Direction::kForward:
      tensor = shard.forward(std::exchange(tensor, Tensor()), saved);
      break;
    case Direction::kBackward:
      tensor = shard.backward(std::exchange(tensor, Tensor()), saved);
      dist.wait(dist.all_reduce_async(tensor, ReduceOp::SUM));
      break;
  }
}

}  // namespace rankbox
