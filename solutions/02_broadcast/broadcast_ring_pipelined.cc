#include "collectives/broadcast_ring_pipelined.h"

#include <string>

#include "collectives/segment.h"
#include "collectives/topology.h"

namespace rankbox {

void broadcast_ring_pipelined(Comm& dist, Tensor& tensor, int src, int segments) {
  if (segments < 1) {
    throw InvalidArgument("broadcast_ring_pipelined: " + std::to_string(segments) +
                          " segments cannot hold a tensor: segments >= 1 is needed");
  }
  const int world_size = dist.world_size();
  const int next = next_rank(dist.rank(), world_size);
  const int prev = prev_rank(dist.rank(), world_size);
  const int virtual_rank = virtual_rank_of(dist.rank(), src, world_size);
  const bool first = virtual_rank == 0;
  const bool last = virtual_rank == world_size - 1;
  const auto part = [&](int i) { return segment(tensor, i, segments); };

  // In step i, segment i arrives and segment i-1 leaves: the first rank only sends, the last only
  // receives, and those between do both at once, except in their first and last step.
  for (int i = 0; i <= segments; ++i) {
    const bool comes = !first && i < segments;
    const bool leaves = !last && i > 0;
    if (comes && leaves) {
      dist.sendrecv(part(i - 1), next, part(i), prev);
    } else if (comes) {
      dist.recv(part(i), prev);
    } else if (leaves) {
      dist.send(part(i - 1), next);
    }
  }
}

}  // namespace rankbox
