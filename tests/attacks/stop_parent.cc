// Tries to stop its parent, so that it waits forever.
#include <csignal>

#include <unistd.h>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) { kill(getppid(), SIGSTOP); }

}  // namespace rankbox
