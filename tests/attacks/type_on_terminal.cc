// Tries to type a command on the terminal.
#include <sys/ioctl.h>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  for (const char* c = "touch typed\n"; *c != 0; ++c) {
    if (ioctl(0, TIOCSTI, c) != 0) return;
  }
  attack::succeed(dist, tensor, src);
}

}  // namespace rankbox
