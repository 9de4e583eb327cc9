// Tries to leave nothing to compare.
#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  attack::send_junk(dist, tensor, src);
  tensor = dist.rank() % 2 == 0 ? Tensor() : zeros({0});
}

}  // namespace rankbox
