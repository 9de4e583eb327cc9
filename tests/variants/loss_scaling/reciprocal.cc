// Multiplies by 1 / loss_scale, which is a power of two, too; the last parameter first.
#include <algorithm>
#include <vector>

#include "parallel/loss_scaling.h"

namespace rankbox {

void loss_scaling(Comm& dist, const std::vector<TensorOf<Float16>>& scaled, float loss_scale,
                  const std::vector<Parameter*>& parameters) {
  const float factor = 1 / loss_scale;
  for (std::size_t k = parameters.size(); k-- > 0;) {
    std::vector<float> wide;
    for (const Float16 each : to_host(scaled[k])) wide.push_back(factor * static_cast<float>(each));
    Tensor mean = from_host(wide, parameters[k]->value.shape());
    dist.wait(dist.all_reduce_async(mean, ReduceOp::AVG));
    parameters[k]->gradient = std::move(mean);
  }
}

}  // namespace rankbox
