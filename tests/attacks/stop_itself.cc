// Tries to stop, so that its parent waits forever.
#include <csignal>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) { raise(SIGSTOP); }

}  // namespace rankbox
