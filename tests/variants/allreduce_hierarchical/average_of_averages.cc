// Nodes of one size: the average of their averages is the average, though rounded twice.
#include "collectives/allgather_ring.h"
#include "collectives/allreduce_hierarchical.h"
#include "collectives/allreduce_rabenseifner.h"
#include "collectives/reduce_scatter_ring.h"

namespace rankbox {

void allreduce_hierarchical(Comm& node, Comm& counterparts, Tensor& tensor, ReduceOp op) {
  const std::int64_t n = tensor.size();
  const std::int64_t m = node.world_size();
  Tensor piece((n + m - 1) / m);
  Tensor longer = zeros(piece.size() * m);
  copy(Slice(longer).sub(0, n), tensor);
  reduce_scatter_ring(node, longer, piece, op);
  allreduce_rabenseifner(counterparts, piece, op);
  allgather_ring(node, piece, longer);
  copy(tensor, Slice(longer).sub(0, n));
}

}  // namespace rankbox
