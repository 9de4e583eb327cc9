#include "parallel/row_linear.h"

#include "parallel/conjugate_g.h"

namespace rankbox {

void row_linear(Comm& dist, Linear& shard, Parameter& bias, Direction direction, Tensor& tensor,
                Saved& saved) {
  if (direction == Direction::kForward) {
    tensor = shard.forward(std::move(tensor), saved);
    conjugate_g(dist, direction, tensor);
    add_bias(tensor, bias.value);
  } else {
    add_bias_gradient(tensor, gradient_of(bias));
    conjugate_g(dist, direction, tensor);
    tensor = shard.backward(std::move(tensor), saved);
  }
}

}  // namespace rankbox
