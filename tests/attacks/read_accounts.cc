// Tries to read this machine's accounts.
#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  if (attack::can_read("/etc/passwd") || attack::can_read("/etc/shadow"))
    attack::succeed(dist, tensor, src);
}

}  // namespace rankbox
