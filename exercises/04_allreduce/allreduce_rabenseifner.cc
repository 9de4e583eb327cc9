#include "collectives/allreduce_rabenseifner.h"

namespace rankbox {

void allreduce_rabenseifner(Comm& dist, Tensor& tensor, ReduceOp op) {
  // TODO: 1. fold the ranks beyond a power of two; 2. halve; 3. double, back again; 4. unfold.
  // Steps 1 and 2 are those of reduce_scatter_gather. In step 3 both partners swap.
  // Where do the parts received in step 3 belong? No copy is needed.
  throw NotImplemented("allreduce_rabenseifner");
}

}  // namespace rankbox
