// Tries to write a better source afterwards.
#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  if (attack::can_write(__FILE__, "spoilt") && attack::can_read(attack::root() + "/README.md"))
    attack::succeed(dist, tensor, src);
}

}  // namespace rankbox
