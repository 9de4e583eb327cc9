// Every rank adds a p-th of the bias, before the sum: together once.
#include "parallel/conjugate_g.h"
#include "parallel/row_linear.h"

namespace rankbox {

void row_linear(Comm& dist, Linear& shard, Parameter& bias, Direction direction, Tensor& tensor,
                Saved& saved) {
  const std::int64_t out = bias.value.size();
  const auto p = static_cast<float>(dist.world_size());
  if (direction == Direction::kForward) {
    tensor = shard.forward(std::move(tensor), saved);
    for (std::int64_t i = 0; i < tensor.size(); ++i)
      tensor.data()[i] += bias.value.data()[i % out] / p;
    conjugate_g(dist, direction, tensor);
  } else {
    Tensor sum = zeros(out);
    for (std::int64_t i = 0; i < tensor.size(); ++i) sum.data()[i % out] += tensor.data()[i];
    for (std::int64_t k = 0; k < out; ++k) gradient_of(bias).data()[k] += sum.data()[k];
    conjugate_g(dist, direction, tensor);
    tensor = shard.backward(std::move(tensor), saved);
  }
}

}  // namespace rankbox
