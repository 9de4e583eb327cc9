#include "collectives/allreduce_butterfly.h"

namespace rankbox {

void allreduce_butterfly(Comm& dist, Tensor& tensor, ReduceOp op) {
  // TODO: in the round of distance 1, 2, 4, …, swap tensors with rank ^ distance, and both add.
  // If both partners send first, who receives? May the received tensor overwrite the sent one?
  // Where p is not a power of two, some ranks do the work of others. Which, and for which?
  throw NotImplemented("allreduce_butterfly");
}

}  // namespace rankbox
