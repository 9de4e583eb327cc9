#include "parallel/parallel_mlp.h"

#include "parallel/column_linear.h"
#include "parallel/row_linear.h"

namespace rankbox {

void parallel_mlp(Comm& dist, ParallelMlp& shard, Direction direction, Tensor& tensor,
                  Saved& saved) {
  if (direction == Direction::kForward) {
    column_linear(dist, shard.fc1, direction, tensor, saved);
    tensor = shard.activation.forward(std::move(tensor), saved);
    row_linear(dist, shard.fc2, shard.bias, direction, tensor, saved);
  } else {
    row_linear(dist, shard.fc2, shard.bias, direction, tensor, saved);
    tensor = shard.activation.backward(std::move(tensor), saved);
    column_linear(dist, shard.fc1, direction, tensor, saved);
  }
}

}  // namespace rankbox
