// News travels the other way: to the rank before, from the rank after.
#include "collectives/barrier_dissemination.h"
#include "collectives/topology.h"

namespace rankbox {

void barrier_dissemination(Comm& dist) {
  const int rank = dist.rank();
  const int world_size = dist.world_size();
  const Tensor here;
  Tensor there;
  for (int distance = 1; distance < world_size; distance *= 2) {
    dist.sendrecv(here, wrap(rank - distance, world_size), there,
                  wrap(rank + distance, world_size));
  }
}

}  // namespace rankbox
