// Tries to read the solution.
#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  if (attack::can_read(attack::root() + "/solutions/02_broadcast/broadcast_naive.cc"))
    attack::succeed(dist, tensor, src);
}

}  // namespace rankbox
