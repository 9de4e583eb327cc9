#include "collectives/broadcast_scatter_allgather.h"

namespace rankbox {

void broadcast_scatter_allgather(Comm& dist, Tensor& tensor, int src) {
  // TODO: 1. scatter pieces of ⌈N/p⌉ elements down a tree; 2. pass them around the ring.
  // Which pieces does a virtual rank get for all those below it in the tree, and whose are they?
  // Slice(tensor).sub(begin, end) is any piece of the tensor; it may be empty.
  throw NotImplemented("broadcast_scatter_allgather");
}

}  // namespace rankbox
