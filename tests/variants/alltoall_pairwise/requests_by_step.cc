// A recursion over the steps, each a pair of requests.
#include "collectives/alltoall_pairwise.h"
#include "collectives/topology.h"

namespace rankbox {

namespace {

void step(Comm& dist, const Tensor& input, Tensor& output, int k) {
  const int p = dist.world_size();
  if (k == p) return copy(chunk(output, dist.rank(), p), chunk(input, dist.rank(), p));
  const int dst = (dist.rank() + k) % p;
  const int src = (dist.rank() + p - k) % p;
  const Request coming = dist.irecv(chunk(output, src, p), src);
  const Request leaving = dist.isend(chunk(input, dst, p), dst);
  dist.wait_all({coming, leaving});
  step(dist, input, output, k + 1);
}

}  // namespace

void alltoall_pairwise(Comm& dist, const Tensor& input, Tensor& output) {
  step(dist, input, output, 1);
}

}  // namespace rankbox
