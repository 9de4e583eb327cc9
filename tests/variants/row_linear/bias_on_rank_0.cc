// Rank 0 alone adds the bias, before the sum: it is in it once.
#include "parallel/row_linear.h"

namespace rankbox {

void row_linear(Comm& dist, Linear& shard, Parameter& bias, Direction direction, Tensor& tensor,
                Saved& saved) {
  const std::int64_t out = bias.value.size();
  if (direction == Direction::kForward) {
    Tensor y = shard.forward(std::move(tensor), saved);
    for (std::int64_t i = 0; i < y.size() && dist.rank() == 0; ++i)
      y.data()[i] += bias.value.data()[i % out];
    dist.all_reduce(y, ReduceOp::SUM);
    tensor = std::move(y);
    return;
  }
  for (std::int64_t row = 0; row < tensor.size() / out; ++row) {
    for (std::int64_t k = 0; k < out; ++k)
      gradient_of(bias).data()[k] += tensor.data()[row * out + k];
  }
  tensor = shard.backward(std::move(tensor), saved);
}

}  // namespace rankbox
