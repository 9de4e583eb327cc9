// Tries to kill its parent.
#include <csignal>

#include <unistd.h>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) { kill(getppid(), SIGKILL); }

}  // namespace rankbox
