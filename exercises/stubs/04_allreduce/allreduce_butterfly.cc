#include "collectives/allreduce_butterfly.h"

namespace rankbox {

void allreduce_butterfly(Comm& dist, Tensor& tensor, ReduceOp op) {
  // TODO: in the round of distance 1, 2, 4, …, swap tensors with rank ^ distance, and both add.
  // If both partners send first, who receives? May what comes overwrite what is leaving?
  // Where p is no power of two, some ranks let others work for them. Who, and for whom?
  throw NotImplemented("allreduce_butterfly");
}

}  // namespace rankbox
