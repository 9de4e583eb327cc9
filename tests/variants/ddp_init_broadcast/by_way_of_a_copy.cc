// Rank 0 sends copies, and the others copy what they receive.
#include <algorithm>
#include <vector>

#include "parallel/ddp_init_broadcast.h"

namespace rankbox {

void ddp_init_broadcast(Comm& dist, const std::vector<Parameter*>& parameters,
                        const std::vector<NamedTensor*>& statistics) {
  const auto share = [&](Tensor& tensor) {
    Tensor sent(tensor.shape());
    if (dist.rank() == 0) copy(sent, tensor);
    dist.broadcast(sent, 0);
    if (dist.rank() != 0) copy(tensor, sent);
  };
  std::ranges::for_each(parameters, [&](Parameter* each) { share(each->value); });
  std::ranges::for_each(statistics, [&](NamedTensor* each) { share(each->value); });
}

}  // namespace rankbox
