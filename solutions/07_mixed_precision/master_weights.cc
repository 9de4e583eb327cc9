#include "parallel/master_weights.h"

namespace rankbox {

void master_weights(const TensorOf<Float16>& gradient, float loss_scale, float learning_rate,
                    Tensor& master, TensorOf<Float16>& weights) {
  for (std::int64_t i = 0; i < master.size(); ++i) {
    const float unscaled = static_cast<float>(gradient.data()[i]) / loss_scale;
    master.data()[i] -= learning_rate * unscaled;
    weights.data()[i] = Float16(master.data()[i]);
  }
}

}  // namespace rankbox
