#include "collectives/broadcast_ring.h"

namespace rankbox {

void broadcast_ring(Comm& dist, Tensor& tensor, int src) {
  // TODO: receive the tensor from the previous rank, and pass it on to the next one.
  // Who must not receive, and who must not send?
  // Do the ranks need to count steps, or to wait for each other by other means than the messages?
  throw NotImplemented("broadcast_ring");
}

}  // namespace rankbox
