// Virtual ranks count down from src, and a rank knows beforehand in which round it joins.
#include "collectives/broadcast_tree.h"
#include "collectives/topology.h"

namespace rankbox {

void broadcast_tree(Comm& dist, Tensor& tensor, int src) {
  const int world_size = dist.world_size();
  if (world_size == 1) return;
  const int place = wrap(src - dist.rank(), world_size);
  const auto rank_at = [&](int other) { return wrap(src - other, world_size); };
  const int joins = place == 0 ? 0 : floor_log2(place) + 1;  // the round before which it has it
  if (place != 0) dist.recv(tensor, rank_at(place - (1 << (joins - 1))));
  for (int round = joins; round < rounds(world_size); ++round) {
    const int child = place + (1 << round);
    if (child < world_size) dist.send(tensor, rank_at(child));
  }
}

}  // namespace rankbox
