#include "collectives/broadcast_naive.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  // TODO: src sends the tensor to every other rank; the others receive it.
  // Who am I, and how many are we? dist.rank(), dist.world_size().
  // What would happen if src sent to itself?
  throw NotImplemented("broadcast_naive");
}

}  // namespace rankbox
