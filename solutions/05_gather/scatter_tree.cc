#include "collectives/scatter_tree.h"

#include <algorithm>

#include "collectives/topology.h"

namespace rankbox {

void scatter_tree(Comm& dist, const Tensor& whole, Tensor& piece, int src) {
  const int world_size = dist.world_size();
  const int virtual_rank = virtual_rank_of(dist.rank(), src, world_size);
  const std::int64_t n = piece.size();

  // 1. Room for my subtree, as in gather_tree.
  const int lowest_bit = virtual_rank == 0 ? world_size : virtual_rank & -virtual_rank;
  const int subtree = std::min(lowest_bit, world_size - virtual_rank);
  Tensor block(subtree * n);

  // 2. Fill it. src rotates the whole into virtual order, its own piece first: then every subtree
  //    is one contiguous block, even where its ranks wrap around the end of the world.
  if (virtual_rank == 0) {
    const std::int64_t until_wrap = (world_size - src) * n;
    copy(Slice(block).sub(0, until_wrap), Slice(whole).sub(src * n, whole.size()));
    copy(Slice(block).sub(until_wrap, block.size()), Slice(whole).sub(0, src * n));
  } else {
    dist.recv(block, rank_of(virtual_rank - lowest_bit, src, world_size));
  }

  // 3. Send the far part away until only my own piece is left. The farthest child comes first: it
  //    has the most ranks to serve.
  for (int held = subtree; held > 1;) {
    const int kept = largest_power_of_two(held - 1);
    dist.send(Slice(block).sub(kept * n, held * n), rank_of(virtual_rank + kept, src, world_size));
    held = kept;
  }
  copy(piece, chunk(block, 0, subtree));
}

}  // namespace rankbox
