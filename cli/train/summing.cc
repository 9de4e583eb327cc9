// A wrong ddp_average_gradients, for tests: a sum instead of a mean.
#include "parallel/ddp_average_gradients.h"

namespace rankbox {

void ddp_average_gradients(Comm& dist, const std::vector<Parameter*>& parameters) {
  for (Parameter* parameter : parameters) dist.all_reduce(gradient_of(*parameter), ReduceOp::SUM);
}

}  // namespace rankbox
