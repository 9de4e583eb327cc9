// Tries to include a pipe, which waits forever.
#include "collectives/broadcast_naive.h"
#include "pipe.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {}

}  // namespace rankbox
