// Tries to include a terminal.
#include "/dev/tty"
#include "collectives/broadcast_naive.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {}

}  // namespace rankbox
