#include "parallel/loss_scaling.h"

namespace rankbox {

void loss_scaling(Comm& dist, const std::vector<TensorOf<Float16>>& scaled, float loss_scale,
                  const std::vector<Parameter*>& parameters) {
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    Tensor& gradient = gradient_of(*parameters[k]);
    for (std::int64_t i = 0; i < gradient.size(); ++i)
      gradient.data()[i] = static_cast<float>(scaled[k].data()[i]) / loss_scale;
    dist.all_reduce(gradient, ReduceOp::AVG);
  }
}

}  // namespace rankbox
