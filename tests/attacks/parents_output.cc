// Tries to print in its parent's name.
#include <unistd.h>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  const std::string output = "/proc/" + std::to_string(getppid()) + "/fd/1";
  if (attack::can_write(output, "pass\n")) attack::succeed(dist, tensor, src);
}

}  // namespace rankbox
