// One list of all tensors, the statistics first.
#include "parallel/ddp_init_broadcast.h"

namespace rankbox {

void ddp_init_broadcast(Comm& dist, const std::vector<Parameter*>& parameters,
                        const std::vector<NamedTensor*>& statistics) {
  std::vector<Slice> tensors;
  for (NamedTensor* statistic : statistics) tensors.emplace_back(statistic->value);
  for (Parameter* parameter : parameters) tensors.emplace_back(parameter->value);
  for (const Slice& tensor : tensors) dist.broadcast(tensor, 0);
}

}  // namespace rankbox
