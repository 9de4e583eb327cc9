// Tries to include the solution.
#include "collectives/broadcast_naive.h"
#include "solutions/02_broadcast/broadcast_naive.cc"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {}

}  // namespace rankbox
