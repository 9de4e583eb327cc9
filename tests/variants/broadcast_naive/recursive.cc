// src serves one rank, and then the rest.
#include "collectives/broadcast_naive.h"

namespace rankbox {

namespace {

void serve(Comm& dist, Slice tensor, int dst) {
  if (dst == dist.world_size()) return;
  if (dst != dist.rank()) dist.wait(dist.isend(tensor, dst));
  serve(dist, tensor, dst + 1);
}

}  // namespace

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  if (dist.rank() == src) return serve(dist, tensor, 0);
  dist.wait(dist.irecv(tensor, src));
}

}  // namespace rankbox
