// One step, and then the rest.
#include "collectives/allgather_ring.h"
#include "collectives/topology.h"

namespace rankbox {

namespace {

void pass_on(Comm& dist, Slice gathered, int owner, int left) {
  if (left == 0) return;
  const int p = dist.world_size();
  const int coming = prev_rank(owner, p);
  dist.sendrecv(chunk(gathered, owner, p), next_rank(dist.rank(), p), chunk(gathered, coming, p),
                prev_rank(dist.rank(), p));
  pass_on(dist, gathered, coming, left - 1);
}

}  // namespace

void allgather_ring(Comm& dist, const Tensor& tensor, Tensor& gathered) {
  copy(chunk(gathered, dist.rank(), dist.world_size()), tensor);
  pass_on(dist, gathered, dist.rank(), dist.world_size() - 1);
}

}  // namespace rankbox
