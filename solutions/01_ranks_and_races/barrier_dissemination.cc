#include "collectives/barrier_dissemination.h"

#include "collectives/topology.h"

namespace rankbox {

void barrier_dissemination(Comm& dist) {
  const int rank = dist.rank();
  const int world_size = dist.world_size();

  // Empty messages: the arrival of one is the news.
  const Tensor i_am_here;
  Tensor so_are_they;

  // I know of `distance` ranks that have arrived: myself and those just before me. The rank
  // `distance` before me knows of equally many others: the number doubles in every round.
  for (int distance = 1; distance < world_size; distance *= 2) {
    dist.sendrecv(i_am_here, wrap(rank + distance, world_size), so_are_they,
                  wrap(rank - distance, world_size));
  }
}

}  // namespace rankbox
