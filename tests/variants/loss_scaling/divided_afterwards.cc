// Widened, summed, and divided once by both numbers.
#include "parallel/loss_scaling.h"

namespace rankbox {

void loss_scaling(Comm& dist, const std::vector<TensorOf<Float16>>& scaled, float loss_scale,
                  const std::vector<Parameter*>& parameters) {
  const float share = 1 / (loss_scale * static_cast<float>(dist.world_size()));
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    Tensor wide = zeros(scaled[k].shape());
    for (std::int64_t i = 0; i < wide.size(); ++i) wide.data()[i] = scaled[k].data()[i];
    dist.all_reduce(wide);
    wide *= share;
    parameters[k]->gradient = std::move(wide);
  }
}

}  // namespace rankbox
