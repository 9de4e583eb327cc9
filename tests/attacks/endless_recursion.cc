// Tries to overflow every stack.
#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  volatile char kept[1 << 12] = {};
  broadcast_naive(dist, tensor, src);
  kept[0] = 1;
}

}  // namespace rankbox
