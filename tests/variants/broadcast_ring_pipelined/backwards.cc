// The ring the other way round, and isend with recv in place of sendrecv.
#include <vector>

#include "collectives/broadcast_ring_pipelined.h"
#include "collectives/segment.h"
#include "collectives/topology.h"

namespace rankbox {

void broadcast_ring_pipelined(Comm& dist, Tensor& tensor, int src, int segments) {
  const int world_size = dist.world_size();
  const int rank = dist.rank();
  const int place = wrap(src - rank, world_size);
  std::vector<Request> leaving;
  for (int i = 0; i < segments; ++i) {
    const Slice part = segment(tensor, i, segments);
    if (place > 0) dist.recv(part, next_rank(rank, world_size));
    if (place < world_size - 1) leaving.push_back(dist.isend(part, prev_rank(rank, world_size)));
  }
  dist.wait_all(leaving);
}

}  // namespace rankbox
