// The gradient as a tensor of floats, scaled as a whole.
#include "parallel/master_weights.h"

namespace rankbox {

void master_weights(const TensorOf<Float16>& gradient, float loss_scale, float learning_rate,
                    Tensor& master, TensorOf<Float16>& weights) {
  Tensor step = zeros(gradient.shape());
  for (std::int64_t i = 0; i < step.size(); ++i) step.data()[i] = gradient.data()[i];
  step *= -learning_rate / loss_scale;
  master += step;
  for (std::int64_t i = 0; i < step.size(); ++i)
    weights.data()[i] = static_cast<Float16>(master.data()[i]);
}

}  // namespace rankbox
