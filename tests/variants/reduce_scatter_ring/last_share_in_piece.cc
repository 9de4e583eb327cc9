// The last sum arrives in piece itself, and the own share is added there.
#include "collectives/average.h"
#include "collectives/reduce_scatter_ring.h"
#include "collectives/topology.h"

namespace rankbox {

void reduce_scatter_ring(Comm& dist, Tensor& tensor, Tensor& piece, ReduceOp op) {
  const int p = dist.world_size();
  const int me = dist.rank();
  const auto part = [&](int c) { return chunk(tensor, wrap(c, p), p); };
  if (p == 1) return copy(piece, tensor);
  for (int c = me - 1; c > me - p; --c) {
    const bool is_last = c == me - p + 1;
    Tensor sum(is_last ? 0 : part(c - 1).size());
    const Request leaving = dist.isend(part(c), next_rank(me, p));
    dist.recv(is_last ? Slice(piece) : Slice(sum), prev_rank(me, p));
    dist.wait(leaving);
    if (is_last) {
      accumulate(piece, part(me), op);
    } else {
      accumulate(part(c - 1), sum, op);
    }
  }
  divide_if_average(piece, op, p);
}

}  // namespace rankbox
