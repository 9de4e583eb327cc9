// All tensors in one list, sent from its end, each waited for at once.
#include <vector>

#include "parallel/ddp_init_broadcast.h"

namespace rankbox {

void ddp_init_broadcast(Comm& dist, const std::vector<Parameter*>& parameters,
                        const std::vector<NamedTensor*>& statistics) {
  std::vector<Tensor*> all;
  for (Parameter* parameter : parameters) all.push_back(&parameter->value);
  for (NamedTensor* statistic : statistics) all.push_back(&statistic->value);
  for (; !all.empty(); all.pop_back()) dist.wait(dist.broadcast_async(*all.back(), 0));
}

}  // namespace rankbox
