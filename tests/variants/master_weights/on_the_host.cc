// Three vectors on the host, and the step in doubles.
#include <vector>

#include "parallel/master_weights.h"

namespace rankbox {

void master_weights(const TensorOf<Float16>& gradient, float loss_scale, float learning_rate,
                    Tensor& master, TensorOf<Float16>& weights) {
  const std::vector<Float16> slopes = to_host(gradient);
  std::vector<float> exact = to_host(master);
  std::vector<Float16> rounded;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    const double step = double{learning_rate} * double{float{slopes[i]}} / double{loss_scale};
    exact[i] = static_cast<float>(exact[i] - step);
    rounded.emplace_back(exact[i]);
  }
  copy(master, from_host(exact));
  copy(weights, from_host(rounded));
}

}  // namespace rankbox
