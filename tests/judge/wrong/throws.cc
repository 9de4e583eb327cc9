// Judged as broadcast_naive: an exception of the standard library, on one rank only.
#include <vector>

#include "collectives/broadcast_naive.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  if (dist.rank() != src) {
    std::vector<int> visits(1);
    visits.at(static_cast<std::size_t>(dist.rank() + 7)) += 1;  // HERE
    dist.recv(tensor, src);
    return;
  }
  for (int rank = 0; rank < dist.world_size(); ++rank) {
    if (rank != src) dist.send(tensor, rank);
  }
}

}  // namespace rankbox
