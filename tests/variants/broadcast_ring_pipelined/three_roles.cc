// The first, the last and those between have a function each.
#include "collectives/broadcast_ring_pipelined.h"
#include "collectives/segment.h"
#include "collectives/topology.h"

namespace rankbox {

namespace {

void pass_on(Comm& dist, Slice whole, int segments, int prev, int next) {
  dist.recv(segment(whole, 0, segments), prev);
  for (int i = 1; i < segments; ++i) {
    dist.sendrecv(segment(whole, i - 1, segments), next, segment(whole, i, segments), prev);
  }
  dist.send(segment(whole, segments - 1, segments), next);
}

}  // namespace

void broadcast_ring_pipelined(Comm& dist, Tensor& tensor, int src, int segments) {
  const int world_size = dist.world_size();
  const int next = next_rank(dist.rank(), world_size);
  const int prev = prev_rank(dist.rank(), world_size);
  if (world_size == 1) return;
  if (dist.rank() == src) {
    for (int i = 0; i < segments; ++i) dist.send(segment(tensor, i, segments), next);
  } else if (next == src) {
    for (int i = 0; i < segments; ++i) dist.recv(segment(tensor, i, segments), prev);
  } else {
    pass_on(dist, tensor, segments, prev, next);
  }
}

}  // namespace rankbox
