// Tries to report through every other descriptor.
#include <unistd.h>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  for (int fd = 4; fd < 1024; ++fd) (void)!write(fd, attack::kPass, sizeof(attack::kPass) - 1);
  _exit(0);
}

}  // namespace rankbox
