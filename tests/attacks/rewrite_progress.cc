// Tries to write its progress.
#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  if (attack::can_write(attack::root() + "/.rankbox/progress.json", "spoilt") &&
      attack::can_read(attack::root() + "/README.md"))
    attack::succeed(dist, tensor, src);
}

}  // namespace rankbox
