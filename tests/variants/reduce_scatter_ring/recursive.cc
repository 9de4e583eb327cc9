// A chunk is received by recursion: first what comes before it, then one step.
#include "collectives/average.h"
#include "collectives/reduce_scatter_ring.h"
#include "collectives/topology.h"

namespace rankbox {

namespace {

/// After it, the chunk that is `steps` + 1 before this rank's next one has steps + 1 shares.
void collect(Comm& dist, Slice tensor, Slice buffer, ReduceOp op, int steps) {
  if (steps == 0) return;
  collect(dist, tensor, buffer, op, steps - 1);
  const int p = dist.world_size();
  const Slice leaving = chunk(tensor, wrap(dist.rank() - steps, p), p);
  const Slice into = chunk(tensor, wrap(dist.rank() - steps - 1, p), p);
  const Slice received = buffer.sub(0, into.size());
  const Request coming = dist.irecv(received, prev_rank(dist.rank(), p));
  dist.send(leaving, next_rank(dist.rank(), p));
  dist.wait(coming);
  accumulate(into, received, op);
}

}  // namespace

void reduce_scatter_ring(Comm& dist, Tensor& tensor, Tensor& piece, ReduceOp op) {
  const int p = dist.world_size();
  Tensor buffer(tensor.size() / p + 1);
  collect(dist, tensor, buffer, op, p - 1);
  copy(piece, chunk(tensor, dist.rank(), p));
  divide_if_average(piece, op, p);
}

}  // namespace rankbox
