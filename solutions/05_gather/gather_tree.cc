#include "collectives/gather_tree.h"

#include <algorithm>

#include "collectives/topology.h"

namespace rankbox {

void gather_tree(Comm& dist, const Tensor& tensor, Tensor& gathered, int dst) {
  const int world_size = dist.world_size();
  const int virtual_rank = virtual_rank_of(dist.rank(), dst, world_size);
  const std::int64_t n = tensor.size();

  // 1. Room for my subtree: me and the ranks right after me. The lowest bit set in my virtual rank
  //    says how many; fewer where the world ends, and all of them for dst, virtual rank 0.
  const int lowest_bit = virtual_rank == 0 ? world_size : virtual_rank & -virtual_rank;
  const int subtree = std::min(lowest_bit, world_size - virtual_rank);
  Tensor block(subtree * n);
  copy(chunk(block, 0, subtree), tensor);

  // 2. Collect from the children, nearest first. The block of the child at distance d continues
  //    mine: d tensors, or fewer at the end of the world.
  for (int held = 1; held < subtree; held *= 2) {
    const int end = std::min(2 * held, subtree);
    dist.recv(Slice(block).sub(held * n, end * n), rank_of(virtual_rank + held, dst, world_size));
  }

  // 3. Send everything to the parent.
  if (virtual_rank != 0) {
    dist.send(block, rank_of(virtual_rank - lowest_bit, dst, world_size));
    return;
  }

  // 4. dst holds dst, dst+1, …, the last rank, and only then 0, …, dst-1: rotate it into rank
  //    order.
  const std::int64_t until_wrap = (world_size - dst) * n;
  copy(Slice(gathered).sub(dst * n, gathered.size()), Slice(block).sub(0, until_wrap));
  copy(Slice(gathered).sub(0, dst * n), Slice(block).sub(until_wrap, block.size()));
}

}  // namespace rankbox
