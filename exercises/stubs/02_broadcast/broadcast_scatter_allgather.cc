#include "collectives/broadcast_scatter_allgather.h"

namespace rankbox {

void broadcast_scatter_allgather(Comm& dist, Tensor& tensor, int src) {
  // TODO: 1. scatter the pieces down a tree; 2. pass them around the ring.
  // Which pieces does a virtual rank get for all those below it in the tree, and whose are they?
  // collectives/segment.h cuts them: segments(tensor, begin, end, world_size) for several ranks.
  throw NotImplemented("broadcast_scatter_allgather");
}

}  // namespace rankbox
