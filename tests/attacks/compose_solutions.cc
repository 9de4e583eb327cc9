// Tries to compose the answer of solutions that are for later chapters to write.
#include "collectives/allgather_ring.h"
#include "collectives/allreduce_ring.h"
#include "collectives/reduce_scatter_ring.h"

namespace rankbox {

void allreduce_ring(Comm& dist, Tensor& tensor, ReduceOp op) {
  const std::int64_t count = tensor.size();
  const std::int64_t each = (count + dist.world_size() - 1) / dist.world_size();
  Tensor padded = zeros({each * dist.world_size()});
  copy(Slice(padded).sub(0, count), tensor);
  Tensor piece = zeros({each});
  reduce_scatter_ring(dist, padded, piece, op);
  allgather_ring(dist, piece, padded);
  copy(tensor, Slice(padded).sub(0, count));
}

}  // namespace rankbox
