#include "parallel/dynamic_loss_scaling.h"

#include "compute/all_finite.h"

namespace rankbox {

void dynamic_loss_scaling(Comm& dist, const std::vector<Parameter*>& parameters, LossScale& scale,
                          bool& skip) {
  // 1. Has any rank seen a value that is not finite?
  float overflow = 0;
  for (const Parameter* parameter : parameters) {
    if (!all_finite(parameter->gradient)) overflow = 1;
  }
  Tensor any = full(1, overflow);
  dist.all_reduce(any, ReduceOp::MAX);
  skip = to_host(any)[0] > 0;

  // 2. What every rank concludes from it.
  scale.good_steps = skip ? 0 : scale.good_steps + 1;
  if (skip) scale.scale /= 2;
  if (scale.good_steps == scale.growth_interval) {
    scale.scale *= 2;
    scale.good_steps = 0;
  }
}

}  // namespace rankbox
