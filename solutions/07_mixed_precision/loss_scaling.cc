#include "parallel/loss_scaling.h"

#include "compute/for_each.h"

namespace rankbox {

void loss_scaling(Comm& dist, const std::vector<TensorOf<Float16>>& scaled, float loss_scale,
                  const std::vector<Parameter*>& parameters) {
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    Tensor& gradient = gradient_of(*parameters[k]);
    const Float16* const from = scaled[k].data();
    float* const to = gradient.data();
    for_each(gradient.size(), [=] RANKBOX_PORTABLE(std::int64_t i) {
      to[i] = static_cast<float>(from[i]) / loss_scale;
    });
    dist.all_reduce(gradient, ReduceOp::AVG);
  }
}

}  // namespace rankbox
