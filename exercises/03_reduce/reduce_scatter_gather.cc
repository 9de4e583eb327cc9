#include "collectives/reduce_scatter_gather.h"

namespace rankbox {

void reduce_scatter_gather(Comm& dist, Tensor& tensor, int dst, ReduceOp op) {
  // TODO: 1. fold the ranks beyond a power of two; 2. halve; 3. gather the same way back.
  // In step 2, which half of the range do I keep, which do I send? chunk(range, 0 or 1, 2).
  // Step 3 needs all ranges of step 2 once more, in reverse order: keep them.
  throw NotImplemented("reduce_scatter_gather");
}

}  // namespace rankbox
