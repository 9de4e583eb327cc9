// Tries to write the registry.
#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  if (attack::can_write(attack::root() + "/exercises/registry.toml", "spoilt"))
    attack::succeed(dist, tensor, src);
}

}  // namespace rankbox
