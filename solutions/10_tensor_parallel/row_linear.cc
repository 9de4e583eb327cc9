#include "parallel/row_linear.h"

#include "parallel/conjugate_g.h"

namespace rankbox {

void row_linear(Comm& dist, Linear& shard, Parameter& bias, Direction direction, Tensor& tensor,
                Saved& saved) {
  const std::int64_t out = bias.value.size();
  if (direction == Direction::kForward) {
    tensor = shard.forward(std::move(tensor), saved);
    conjugate_g(dist, direction, tensor);
    for (std::int64_t i = 0; i < tensor.size(); ++i) tensor.data()[i] += bias.value.data()[i % out];
  } else {
    float* const gradient = gradient_of(bias).data();
    for (std::int64_t i = 0; i < tensor.size(); ++i) gradient[i % out] += tensor.data()[i];
    conjugate_g(dist, direction, tensor);
    tensor = shard.backward(std::move(tensor), saved);
  }
}

}  // namespace rankbox
