// Tries to kill its group of processes.
#include <csignal>

#include <unistd.h>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) { kill(0, SIGTERM); }

}  // namespace rankbox
