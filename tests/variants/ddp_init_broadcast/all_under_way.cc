// All broadcasts are started first, and then waited for.
#include "parallel/ddp_init_broadcast.h"

namespace rankbox {

void ddp_init_broadcast(Comm& dist, const std::vector<Parameter*>& parameters,
                        const std::vector<NamedTensor*>& statistics) {
  std::vector<Request> requests;
  for (Parameter* parameter : parameters)
    requests.push_back(dist.broadcast_async(parameter->value, 0));
  for (NamedTensor* statistic : statistics)
    requests.push_back(dist.broadcast_async(statistic->value, 0));
  for (Request& request : requests) dist.wait(request);
}

}  // namespace rankbox
