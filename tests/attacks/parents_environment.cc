// Tries to read its parent's environment.
#include <unistd.h>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  const std::string file = "/proc/" + std::to_string(getppid()) + "/environ";
  if (attack::can_read(file) || attack::can_read("/proc/1/environ"))
    attack::succeed(dist, tensor, src);
}

}  // namespace rankbox
