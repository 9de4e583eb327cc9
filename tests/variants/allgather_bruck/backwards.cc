// The row grows to the other side: me, me-1, me-2, …, sent to the ranks after.
#include <algorithm>

#include "collectives/allgather_bruck.h"
#include "collectives/topology.h"

namespace rankbox {

void allgather_bruck(Comm& dist, const Tensor& tensor, Tensor& gathered) {
  const int rank = dist.rank();
  const int world_size = dist.world_size();
  const std::int64_t n = tensor.size();
  Tensor row(world_size * n);
  copy(Slice(row).sub(0, n), tensor);
  for (int have = 1; have < world_size; have *= 2) {
    const int count = std::min(have, world_size - have);
    dist.sendrecv(Slice(row).sub(0, count * n), wrap(rank + have, world_size),
                  Slice(row).sub(have * n, (have + count) * n), wrap(rank - have, world_size));
  }
  for (int i = 0; i < world_size; ++i) {
    copy(chunk(gathered, wrap(rank - i, world_size), world_size), chunk(row, i, world_size));
  }
}

}  // namespace rankbox
