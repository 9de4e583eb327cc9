// All all-reduces are started first, and then waited for.
#include "parallel/ddp_average_gradients.h"

namespace rankbox {

void ddp_average_gradients(Comm& dist, const std::vector<Parameter*>& parameters) {
  std::vector<Request> requests;
  for (Parameter* parameter : parameters)
    requests.push_back(dist.all_reduce_async(gradient_of(*parameter), ReduceOp::AVG));
  for (Request& request : requests) dist.wait(request);
}

}  // namespace rankbox
