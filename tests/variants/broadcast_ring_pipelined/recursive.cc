// A segment is on its way while the recursion receives the next one.
#include "collectives/broadcast_ring_pipelined.h"
#include "collectives/segment.h"
#include "collectives/topology.h"

namespace rankbox {

namespace {

void pass_on(Comm& dist, Slice tensor, int i, int segments, int place) {
  if (i == segments) return;
  const int p = dist.world_size();
  const Slice part = segment(tensor, i, segments);
  if (place > 0) dist.recv(part, prev_rank(dist.rank(), p));
  if (place == p - 1) return pass_on(dist, tensor, i + 1, segments, place);
  const Request leaving = dist.isend(part, next_rank(dist.rank(), p));
  pass_on(dist, tensor, i + 1, segments, place);
  dist.wait(leaving);
}

}  // namespace

void broadcast_ring_pipelined(Comm& dist, Tensor& tensor, int src, int segments) {
  pass_on(dist, tensor, 0, segments, virtual_rank_of(dist.rank(), src, dist.world_size()));
}

}  // namespace rankbox
