// Judged as broadcast_naive: a loop that never ends, on one rank only.
#include "collectives/broadcast_naive.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  if (dist.rank() != src) {
    volatile unsigned turns = 0;
    while (true) turns = turns + 1;  // HERE
  }
  for (int rank = 0; rank < dist.world_size(); ++rank) {
    if (rank != src) dist.send(tensor, rank);
  }
}

}  // namespace rankbox
