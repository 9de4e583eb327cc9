// Ranks add up how many of them overflowed, and look at sums of gradients times zero.
#include "parallel/dynamic_loss_scaling.h"

namespace rankbox {

void dynamic_loss_scaling(Comm& dist, const std::vector<Parameter*>& parameters, LossScale& scale,
                          bool& skip) {
  float zero = 0;  // infinity times zero is not a number, and not equal to itself
  for (const Parameter* parameter : parameters) {
    for (const float value : to_host(parameter->gradient)) zero += 0 * value;
  }
  Tensor how_many = full(1, zero == 0 ? 0.0f : 1.0f);
  dist.all_reduce(how_many, ReduceOp::SUM);
  skip = how_many.data()[0] >= 1;
  if (skip) {
    scale.scale *= 0.5f;
    scale.good_steps = 0;
  } else if (++scale.good_steps >= scale.growth_interval) {
    scale.scale *= 2;
    scale.good_steps = 0;
  }
}

}  // namespace rankbox
