#include "parallel/ddp_average_gradients.h"

namespace rankbox {

void ddp_average_gradients(Comm& dist, const std::vector<Parameter*>& parameters) {
  for (Parameter* parameter : parameters) dist.all_reduce(gradient_of(*parameter), ReduceOp::AVG);
}

}  // namespace rankbox
