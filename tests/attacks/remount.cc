// Tries to make its view writable.
#include <sys/mount.h>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  if (mount(nullptr, "/", nullptr, MS_REMOUNT | MS_BIND, nullptr) == 0)
    attack::succeed(dist, tensor, src);
}

}  // namespace rankbox
