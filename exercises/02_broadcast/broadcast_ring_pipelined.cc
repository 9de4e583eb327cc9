#include "collectives/broadcast_ring_pipelined.h"

namespace rankbox {

void broadcast_ring_pipelined(Comm& dist, Tensor& tensor, int src, int segments) {
  // TODO: as broadcast_ring, but one segment(tensor, i, segments) after the other.
  // As segment i arrives, segment i-1 can leave: sendrecv(out, next, in, prev) does both at once.
  // What do the first and the last rank do? What do the others do in their first and last step?
  throw NotImplemented("broadcast_ring_pipelined");
}

}  // namespace rankbox
