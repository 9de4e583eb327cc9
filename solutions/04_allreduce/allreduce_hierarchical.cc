#include "collectives/allreduce_hierarchical.h"

#include "collectives/allgather_ring.h"
#include "collectives/allreduce_rabenseifner.h"
#include "collectives/average.h"
#include "collectives/reduce_scatter_ring.h"

namespace rankbox {

void allreduce_hierarchical(Comm& node, Comm& counterparts, Tensor& tensor, ReduceOp op) {
  const int local_ranks = node.world_size();
  const std::int64_t elements = tensor.size();

  // allgather_ring takes pieces of one size, so the last one may reach beyond the tensor.
  Tensor piece((elements + local_ranks - 1) / local_ranks);
  const bool fits = piece.size() * local_ranks == elements;
  Tensor padded = fits ? Tensor() : zeros(piece.size() * local_ranks);
  if (!fits) copy(Slice(padded).sub(0, elements), tensor);
  Tensor& whole = fits ? tensor : padded;

  // 1. Inside the node: each rank gets the sum of one piece. An average must not be taken here: it
  //    is a sum that is divided once.
  const ReduceOp partial = sum_if_average(op);
  reduce_scatter_ring(node, whole, piece, partial);

  // 2. Between the nodes: the same piece of all of them. Divide the piece, not the tensor, which
  //    has m times as many elements.
  allreduce_rabenseifner(counterparts, piece, partial);
  divide_if_average(piece, op, local_ranks * counterparts.world_size());

  // 3. Inside the node: all pieces, in their order.
  allgather_ring(node, piece, whole);
  if (!fits) copy(tensor, Slice(padded).sub(0, elements));
}

}  // namespace rankbox
