// Every rank divides first, by recursion over the list; the sum of the shares is the mean.
#include <span>
#include <vector>

#include "parallel/ddp_average_gradients.h"

namespace rankbox {

namespace {

void average(Comm& dist, std::span<Parameter* const> parameters) {
  if (parameters.empty()) return;
  Tensor share = clone(gradient_of(*parameters.front()));
  share *= 1 / static_cast<float>(dist.world_size());
  dist.all_reduce(share);
  copy(parameters.front()->gradient, share);
  average(dist, parameters.subspan(1));
}

}  // namespace

void ddp_average_gradients(Comm& dist, const std::vector<Parameter*>& parameters) {
  average(dist, parameters);
}

}  // namespace rankbox
