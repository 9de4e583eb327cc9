#include "collectives/broadcast_scatter_allgather.h"

#include "collectives/segment.h"
#include "collectives/topology.h"

namespace rankbox {

void broadcast_scatter_allgather(Comm& dist, Tensor& tensor, int src) {
  const int world_size = dist.world_size();
  const int rank = dist.rank();
  const int virtual_rank = virtual_rank_of(rank, src, world_size);

  // The pieces of the virtual ranks begin, …, end-1. Where the ranks end, so do the pieces.
  const auto pieces = [&](int begin, int end) { return segments(tensor, begin, end, world_size); };

  // 1. Scatter. My subtree is the `width` virtual ranks from mine on: all of them for src, as many
  //    as my lowest set bit for others. I receive their pieces, and send on the upper half, then
  //    the upper half of what is left, …: the farthest first, because it has most left to do.
  const int width = virtual_rank == 0 ? 1 << rounds(world_size) : virtual_rank & -virtual_rank;
  if (virtual_rank != 0) {
    const int parent = virtual_rank - width;
    dist.recv(pieces(virtual_rank, virtual_rank + width), rank_of(parent, src, world_size));
  }
  for (int half = width / 2; half >= 1; half /= 2) {
    const int child = virtual_rank + half;
    if (child < world_size) {
      dist.send(pieces(child, child + half), rank_of(child, src, world_size));
    }
  }

  // 2. All-gather around the ring: pass on the piece that came last, my own first.
  for (int round = 0; round < world_size - 1; ++round) {
    const int leaving = wrap(virtual_rank - round, world_size);
    const int coming = wrap(leaving - 1, world_size);
    dist.sendrecv(pieces(leaving, leaving + 1), next_rank(rank, world_size),
                  pieces(coming, coming + 1), prev_rank(rank, world_size));
  }
}

}  // namespace rankbox
