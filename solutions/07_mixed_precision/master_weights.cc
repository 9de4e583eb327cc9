#include "parallel/master_weights.h"

#include "compute/for_each.h"

namespace rankbox {

void master_weights(const TensorOf<Float16>& gradient, float loss_scale, float learning_rate,
                    Tensor& master, TensorOf<Float16>& weights) {
  const Float16* const scaled = gradient.data();
  float* const exact = master.data();
  Float16* const rounded = weights.data();
  for_each(master.size(), [=] RANKBOX_PORTABLE(std::int64_t i) {
    const float unscaled = static_cast<float>(scaled[i]) / loss_scale;
    exact[i] -= learning_rate * unscaled;
    rounded[i] = Float16(exact[i]);
  });
}

}  // namespace rankbox
