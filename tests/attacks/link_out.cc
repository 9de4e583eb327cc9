// Tries to reach out by a link.
#include <unistd.h>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  (void)!symlink(attack::root().c_str(), "/tmp/link");
  if (attack::can_read("/tmp/link/solutions/02_broadcast/broadcast_naive.cc"))
    attack::succeed(dist, tensor, src);
}

}  // namespace rankbox
