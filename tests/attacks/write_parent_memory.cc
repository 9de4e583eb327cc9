// Tries to write into its parent's memory.
#include <unistd.h>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  const std::string memory = "/proc/" + std::to_string(getppid()) + "/mem";
  if (attack::can_write(memory, "x")) attack::succeed(dist, tensor, src);
}

}  // namespace rankbox
