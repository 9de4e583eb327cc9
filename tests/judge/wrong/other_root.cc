// Judged as broadcast_naive: the ranks disagree on the root of a collective.
#include "collectives/broadcast_naive.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int) {
  if (dist.world_size() > 1) dist.broadcast(tensor, dist.rank());  // HERE
}

}  // namespace rankbox
