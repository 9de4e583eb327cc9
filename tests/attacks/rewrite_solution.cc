// Tries to write a solution.
#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  if (attack::can_write(attack::root() + "/solutions/02_broadcast/broadcast_naive.cc", "spoilt") &&
      attack::can_read(attack::root() + "/README.md"))
    attack::succeed(dist, tensor, src);
}

}  // namespace rankbox
