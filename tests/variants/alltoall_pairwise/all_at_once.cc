// All messages are started at once, in the order of the steps.
#include <vector>

#include "collectives/alltoall_pairwise.h"

namespace rankbox {

void alltoall_pairwise(Comm& dist, const Tensor& input, Tensor& output) {
  const int rank = dist.rank();
  const int world_size = dist.world_size();
  std::vector<Request> requests;
  for (int step = 1; step < world_size; ++step) {
    const int dst = (rank + step) % world_size;
    const int src = (rank + world_size - step) % world_size;
    requests.push_back(dist.irecv(chunk(output, src, world_size), src));
    requests.push_back(dist.isend(chunk(input, dst, world_size), dst));
  }
  copy(chunk(output, rank, world_size), chunk(input, rank, world_size));
  dist.wait_all(requests);
}

}  // namespace rankbox
