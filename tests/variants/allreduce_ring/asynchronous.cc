// Requests instead of sendrecv; sends are waited for at the end of each half.
#include <vector>

#include "collectives/allreduce_ring.h"
#include "collectives/average.h"
#include "collectives/topology.h"

namespace rankbox {

void allreduce_ring(Comm& dist, Tensor& tensor, ReduceOp op) {
  const int world_size = dist.world_size();
  if (world_size == 1) return;  // AVG of one is itself
  const int rank = dist.rank();
  const int next = next_rank(rank, world_size);
  const int prev = prev_rank(rank, world_size);
  const auto part = [&](int c) { return chunk(tensor, wrap(c, world_size), world_size); };

  std::vector<Request> leaving;
  for (int step = 0; step < world_size - 1; ++step) {
    Tensor received(part(rank - step - 1).size());
    const Request coming = dist.irecv(received, prev);
    leaving.push_back(dist.isend(part(rank - step), next));
    dist.wait(coming);
    accumulate(part(rank - step - 1), received, op);
  }
  dist.wait_all(leaving);
  divide_if_average(part(rank + 1), op, world_size);

  leaving.clear();
  for (int step = 0; step < world_size - 1; ++step) {
    leaving.push_back(dist.isend(part(rank + 1 - step), next));
    dist.recv(part(rank - step), prev);
  }
  dist.wait_all(leaving);
}

}  // namespace rankbox
