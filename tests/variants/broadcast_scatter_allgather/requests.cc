// All children are served at once, and both halves of a round are requests.
#include <vector>

#include "collectives/broadcast_scatter_allgather.h"
#include "collectives/segment.h"
#include "collectives/topology.h"

namespace rankbox {

void broadcast_scatter_allgather(Comm& dist, Tensor& tensor, int src) {
  const int p = dist.world_size();
  const int v = virtual_rank_of(dist.rank(), src, p);
  int bit = 1;
  while (bit < p && (v & bit) == 0) bit *= 2;
  if (v != 0) dist.recv(segments(tensor, v, v + bit, p), rank_of(v - bit, src, p));
  std::vector<Request> leaving;
  while ((bit /= 2) > 0) {
    if (v + bit >= p) continue;
    leaving.push_back(
        dist.isend(segments(tensor, v + bit, v + 2 * bit, p), rank_of(v + bit, src, p)));
  }
  dist.wait_all(leaving);
  for (int round = 0; round + 1 < p; ++round) {
    const Request out = dist.isend(segment(tensor, wrap(v - round, p), p), rank_of(v + 1, src, p));
    const Request in =
        dist.irecv(segment(tensor, wrap(v - round - 1, p), p), rank_of(wrap(v - 1, p), src, p));
    dist.wait_all({out, in});
  }
}

}  // namespace rankbox
