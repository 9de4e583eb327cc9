// Judged as broadcast_naive: defines another function.
#include "collectives/broadcast_naive.h"

namespace rankbox {

void broadcast_clever(Comm&, Tensor&, int) {}

}  // namespace rankbox
