// Judged as broadcast_naive: src as a long, so this is an overload, and broadcast_naive is missing.
#include "collectives/broadcast_naive.h"

namespace rankbox {

void broadcast_naive(Comm&, Tensor&, long) {}  // HERE

}  // namespace rankbox
