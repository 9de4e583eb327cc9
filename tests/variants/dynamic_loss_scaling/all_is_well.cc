// The other way round: is all well everywhere? The minimum says so.
#include <algorithm>
#include <cmath>

#include "parallel/dynamic_loss_scaling.h"

namespace rankbox {

void dynamic_loss_scaling(Comm& dist, const std::vector<Parameter*>& parameters, LossScale& scale,
                          bool& skip) {
  const bool well = std::all_of(parameters.begin(), parameters.end(), [](const Parameter* p) {
    const float* const begin = p->gradient.data();
    return std::all_of(begin, begin + p->gradient.size(), [](float x) { return std::isfinite(x); });
  });
  Tensor all_well = full(1, well ? 1.0f : 0.0f);
  dist.wait(dist.all_reduce_async(all_well, ReduceOp::MIN));
  skip = to_host(all_well)[0] == 0;
  if (skip) {
    scale.good_steps = 0;
    scale.scale /= 2;
    return;
  }
  scale.good_steps += 1;
  if (scale.good_steps < scale.growth_interval) return;
  scale.good_steps = 0;
  scale.scale *= 2;
}

}  // namespace rankbox
