// Tries to write another exercise.
#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  if (attack::can_write(attack::root() + "/exercises/02_broadcast/broadcast_tree.cc", "spoilt") &&
      attack::can_read(attack::root() + "/README.md"))
    attack::succeed(dist, tensor, src);
}

}  // namespace rankbox
