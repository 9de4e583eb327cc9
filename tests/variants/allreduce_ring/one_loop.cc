// Both halves in one loop of 2(p-1) steps: what comes is added in the first, stored in the
// second.
#include <vector>

#include "collectives/allreduce_ring.h"
#include "collectives/average.h"
#include "collectives/topology.h"

namespace rankbox {

void allreduce_ring(Comm& dist, Tensor& tensor, ReduceOp op) {
  const int world_size = dist.world_size();
  const int rank = dist.rank();
  const int turn = world_size - 1;
  std::vector<Slice> chunks;
  for (int c = 0; c < world_size; ++c) chunks.push_back(chunk(tensor, c, world_size));
  const auto at = [&](int c) { return chunks[static_cast<std::size_t>(wrap(c, world_size))]; };

  for (int step = 0; step < 2 * turn; ++step) {
    const Slice coming = at(rank - step - 1);
    Tensor received(coming.size());
    dist.sendrecv(at(rank - step), (rank + 1) % world_size, received, (rank + turn) % world_size);
    if (step < turn) {
      accumulate(coming, received, op);
    } else {
      copy(coming, received);
    }
  }
  divide_if_average(tensor, op, world_size);
}

}  // namespace rankbox
