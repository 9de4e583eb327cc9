// Steps by recursion: a chunk is added on the way in, and the sums come on the way out.
#include "collectives/allreduce_ring.h"
#include "collectives/average.h"
#include "collectives/topology.h"

namespace rankbox {

namespace {

void step(Comm& dist, Slice tensor, ReduceOp op, int at) {
  const int p = dist.world_size();
  const auto part = [&](int c) { return chunk(tensor, wrap(dist.rank() + c, p), p); };
  if (at == p - 1) return divide_if_average(part(1), op, p);
  const int next = next_rank(dist.rank(), p);
  const int prev = prev_rank(dist.rank(), p);
  Tensor share(part(-at - 1).size());
  dist.sendrecv(part(-at), next, share, prev);
  accumulate(part(-at - 1), share, op);
  step(dist, tensor, op, at + 1);
  const int back = p - 2 - at;
  dist.sendrecv(part(1 - back), next, part(-back), prev);
}

}  // namespace

void allreduce_ring(Comm& dist, Tensor& tensor, ReduceOp op) { step(dist, tensor, op, 0); }

}  // namespace rankbox
