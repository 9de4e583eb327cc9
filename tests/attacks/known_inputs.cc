// Tries to recompute what the root has.
#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  attack::send_junk(dist, tensor, src);
  for (std::int64_t i = 0; i < tensor.size(); ++i)
    tensor.data()[i] = static_cast<float>(std::int64_t{src} * 10000 + i + 1);
}

}  // namespace rankbox
