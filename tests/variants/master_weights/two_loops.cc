// The step first, all of it; then everything is rounded.
#include <algorithm>

#include "parallel/master_weights.h"

namespace rankbox {

void master_weights(const TensorOf<Float16>& gradient, float loss_scale, float learning_rate,
                    Tensor& master, TensorOf<Float16>& weights) {
  const float rate = learning_rate / loss_scale;
  float* const value = master.data();
  for (std::int64_t i = 0; i < master.size(); ++i)
    value[i] = value[i] - rate * static_cast<float>(gradient.data()[i]);
  std::transform(value, value + master.size(), weights.data(), [](float x) { return Float16(x); });
}

}  // namespace rankbox
