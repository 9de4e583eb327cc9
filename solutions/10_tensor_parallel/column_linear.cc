#include "parallel/column_linear.h"

#include "parallel/conjugate_f.h"

namespace rankbox {

void column_linear(Comm& dist, Linear& shard, Direction direction, Tensor& tensor, Saved& saved) {
  if (direction == Direction::kForward) {
    conjugate_f(dist, direction, tensor);
    tensor = shard.forward(std::move(tensor), saved);
  } else {
    tensor = shard.backward(std::move(tensor), saved);
    conjugate_f(dist, direction, tensor);
  }
}

}  // namespace rankbox
