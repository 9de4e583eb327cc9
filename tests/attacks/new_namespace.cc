// Tries to become root in namespaces of its own.
#include <sched.h>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  if (unshare(CLONE_NEWUSER) == 0 || unshare(CLONE_NEWNS) == 0) attack::succeed(dist, tensor, src);
}

}  // namespace rankbox
