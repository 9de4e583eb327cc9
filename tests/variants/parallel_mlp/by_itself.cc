// Without the other exercises.
#include "parallel/parallel_mlp.h"

namespace rankbox {

void parallel_mlp(Comm& dist, ParallelMlp& shard, Direction direction, Tensor& tensor,
                  Saved& saved) {
  const std::int64_t out = shard.bias.value.size();
  if (direction == Direction::kForward) {
    Tensor hidden = shard.activation.forward(shard.fc1.forward(std::move(tensor), saved), saved);
    tensor = shard.fc2.forward(std::move(hidden), saved);
    dist.all_reduce(tensor, ReduceOp::SUM);
    for (std::int64_t i = 0; i < tensor.size(); ++i)
      tensor.data()[i] += shard.bias.value.data()[i % out];
    return;
  }
  for (std::int64_t i = 0; i < tensor.size(); ++i)
    gradient_of(shard.bias).data()[i % out] += tensor.data()[i];
  Tensor hidden = shard.activation.backward(shard.fc2.backward(std::move(tensor), saved), saved);
  tensor = shard.fc1.backward(std::move(hidden), saved);
  dist.all_reduce(tensor, ReduceOp::SUM);
}

}  // namespace rankbox
