#include "parallel/ddp_init_broadcast.h"

namespace rankbox {

void ddp_init_broadcast(Comm& dist, const std::vector<Parameter*>& parameters,
                        const std::vector<NamedTensor*>& statistics) {
  for (Parameter* parameter : parameters) dist.broadcast(parameter->value, 0);
  for (NamedTensor* statistic : statistics) dist.broadcast(statistic->value, 0);
}

}  // namespace rankbox
