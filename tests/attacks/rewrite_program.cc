// Tries to write the program.
#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  if (attack::can_write(attack::root() + "/.rankbox/bin/rankbox", "spoilt") &&
      attack::can_read(attack::root() + "/README.md"))
    attack::succeed(dist, tensor, src);
}

}  // namespace rankbox
