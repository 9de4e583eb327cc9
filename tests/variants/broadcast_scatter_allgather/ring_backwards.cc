// The all-gather runs the other way round.
#include "collectives/broadcast_scatter_allgather.h"
#include "collectives/segment.h"
#include "collectives/topology.h"

namespace rankbox {

void broadcast_scatter_allgather(Comm& dist, Tensor& tensor, int src) {
  const int world_size = dist.world_size();
  const int rank = dist.rank();
  const int place = virtual_rank_of(rank, src, world_size);
  const auto pieces = [&](int begin, int end) { return segments(tensor, begin, end, world_size); };

  int mask = 1;
  for (; mask < world_size; mask *= 2) {
    if ((place & mask) == 0) continue;
    dist.recv(pieces(place, place + mask), rank_of(place - mask, src, world_size));
    break;
  }
  for (mask /= 2; mask > 0; mask /= 2) {
    if (place + mask >= world_size) continue;
    dist.send(pieces(place + mask, place + 2 * mask), rank_of(place + mask, src, world_size));
  }

  int here = place;
  for (int left = world_size - 1; left > 0; --left) {
    const int after = next_rank(here, world_size);
    const Request coming = dist.irecv(pieces(after, after + 1), next_rank(rank, world_size));
    dist.send(pieces(here, here + 1), prev_rank(rank, world_size));
    dist.wait(coming);
    here = after;
  }
}

}  // namespace rankbox
