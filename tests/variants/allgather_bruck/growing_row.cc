// A longer row in every round, and requests instead of sendrecv.
#include <algorithm>
#include <utility>

#include "collectives/allgather_bruck.h"

namespace rankbox {

void allgather_bruck(Comm& dist, const Tensor& tensor, Tensor& gathered) {
  const int rank = dist.rank();
  const int world_size = dist.world_size();
  const std::int64_t n = tensor.size();
  Tensor row = tensor;
  int have = 1;
  while (have < world_size) {
    const int count = std::min(have, world_size - have);
    Tensor longer((have + count) * n);
    copy(Slice(longer).sub(0, have * n), row);
    const Request coming =
        dist.irecv(Slice(longer).sub(have * n, longer.size()), (rank + have) % world_size);
    dist.send(Slice(row).sub(0, count * n), (rank + world_size - have) % world_size);
    dist.wait(coming);
    row = std::move(longer);
    have += count;
  }
  for (int i = 0; i < world_size; ++i) {
    copy(chunk(gathered, (rank + i) % world_size, world_size), chunk(row, i, world_size));
  }
}

}  // namespace rankbox
