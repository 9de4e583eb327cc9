// Tries to call another exercise's solution.
#include "attack.h"
#include "collectives/broadcast_tree.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) { broadcast_tree(dist, tensor, src); }

}  // namespace rankbox
