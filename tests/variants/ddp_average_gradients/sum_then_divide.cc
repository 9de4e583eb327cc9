// The sum, divided by the world size afterwards.
#include "parallel/ddp_average_gradients.h"

namespace rankbox {

void ddp_average_gradients(Comm& dist, const std::vector<Parameter*>& parameters) {
  const float share = 1.0f / static_cast<float>(dist.world_size());
  for (Parameter* const parameter : parameters) {
    Tensor& gradient = gradient_of(*parameter);
    dist.all_reduce(gradient, ReduceOp::SUM);
    gradient *= share;
  }
}

}  // namespace rankbox
