#include "collectives/allgather_bruck.h"

#include <algorithm>

#include "collectives/topology.h"

namespace rankbox {

void allgather_bruck(Comm& dist, const Tensor& tensor, Tensor& gathered) {
  const int rank = dist.rank();
  const int world_size = dist.world_size();
  const std::int64_t n = tensor.size();

  // 1. My row of blocks starts with my own: block i is the tensor of rank + i.
  Tensor row(world_size * n);
  copy(chunk(row, 0, world_size), tensor);

  // 2. Double it. The rank `have` after me holds exactly the blocks that follow mine, and mine
  //    follow those of the rank `have` before me. In the last round only the missing blocks travel.
  for (int have = 1; have < world_size; have *= 2) {
    const int count = std::min(have, world_size - have);
    dist.sendrecv(Slice(row).sub(0, count * n), wrap(rank - have, world_size),
                  Slice(row).sub(have * n, (have + count) * n), wrap(rank + have, world_size));
  }

  // 3. The row is rank, rank+1, …, the last rank, and only then 0, …, rank-1: rotate it.
  const std::int64_t until_wrap = (world_size - rank) * n;
  copy(Slice(gathered).sub(rank * n, gathered.size()), Slice(row).sub(0, until_wrap));
  copy(Slice(gathered).sub(0, rank * n), Slice(row).sub(until_wrap, row.size()));
}

}  // namespace rankbox
