// From the last parameter, each started and waited for at once.
#include <ranges>
#include <vector>

#include "parallel/ddp_average_gradients.h"

namespace rankbox {

void ddp_average_gradients(Comm& dist, const std::vector<Parameter*>& parameters) {
  for (Parameter* parameter : std::views::reverse(parameters))
    dist.wait(dist.all_reduce_async(gradient_of(*parameter), ReduceOp::AVG));
}

}  // namespace rankbox
