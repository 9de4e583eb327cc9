// The longest distance first: the distances add up to every rank in any order.
#include "collectives/barrier_dissemination.h"
#include "collectives/topology.h"

namespace rankbox {

void barrier_dissemination(Comm& dist) {
  const int rank = dist.rank();
  const int world_size = dist.world_size();
  Tensor news;
  Tensor answer;
  for (int round = rounds(world_size) - 1; round >= 0; --round) {
    const int distance = 1 << round;
    const Request coming = dist.irecv(answer, wrap(rank - distance, world_size));
    dist.send(news, wrap(rank + distance, world_size));
    dist.wait(coming);
  }
}

}  // namespace rankbox
