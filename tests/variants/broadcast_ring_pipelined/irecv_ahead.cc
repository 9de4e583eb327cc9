// The receive of the next segment is posted before the one that is here is sent.
#include <vector>

#include "collectives/broadcast_ring_pipelined.h"
#include "collectives/segment.h"
#include "collectives/topology.h"

namespace rankbox {

void broadcast_ring_pipelined(Comm& dist, Tensor& tensor, int src, int segments) {
  const int world_size = dist.world_size();
  const int place = virtual_rank_of(dist.rank(), src, world_size);
  const int next = next_rank(dist.rank(), world_size);
  const int prev = prev_rank(dist.rank(), world_size);
  const auto part = [&](int i) { return segment(tensor, i, segments); };
  if (place > 0) dist.recv(part(0), prev);
  for (int i = 0; i < segments; ++i) {
    std::vector<Request> requests;
    if (place > 0 && i + 1 < segments) requests.push_back(dist.irecv(part(i + 1), prev));
    if (place < world_size - 1) requests.push_back(dist.isend(part(i), next));
    dist.wait_all(requests);
  }
}

}  // namespace rankbox
