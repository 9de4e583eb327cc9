// Its own two rings inside the node, on uneven pieces in place: no longer copy, no calls of them.
#include "collectives/allreduce_hierarchical.h"
#include "collectives/allreduce_rabenseifner.h"
#include "collectives/average.h"
#include "collectives/topology.h"

namespace rankbox {

void allreduce_hierarchical(Comm& node, Comm& counterparts, Tensor& tensor, ReduceOp op) {
  const int m = node.world_size();
  const int me = node.rank();
  const int next = next_rank(me, m);
  const int prev = prev_rank(me, m);
  const ReduceOp sum = sum_if_average(op);
  const auto piece = [&](int owner) { return chunk(tensor, wrap(owner, m), m); };

  Tensor buffer((tensor.size() + m - 1) / m);
  for (int step = 1; step < m; ++step) {
    const Slice mine = piece(me - step - 1);
    const Slice received = Slice(buffer).sub(0, mine.size());
    node.sendrecv(piece(me - step), next, received, prev);
    accumulate(mine, received, sum);
  }

  Tensor own(piece(me).size());
  copy(own, piece(me));
  allreduce_rabenseifner(counterparts, own, sum);
  divide_if_average(own, op, m * counterparts.world_size());
  copy(piece(me), own);

  for (int step = 0; step < m - 1; ++step) {
    node.sendrecv(piece(me - step), next, piece(me - step - 1), prev);
  }
}

}  // namespace rankbox
