// Judged as broadcast_naive: allocates more memory than there is, without a tensor.
#include <vector>

#include "collectives/broadcast_naive.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int) {
  std::vector<std::vector<float>> copies;
  while (dist.world_size() > 0) {
    copies.emplace_back(1 << 20, static_cast<float>(tensor.size()));  // HERE
  }
}

}  // namespace rankbox
