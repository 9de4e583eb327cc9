#include "collectives/reduce_naive.h"

namespace rankbox {

void reduce_naive(Comm& dist, Tensor& tensor, int dst, ReduceOp op) {
  // TODO: dst receives the tensor of every other rank and reduces it into its own.
  // accumulate(into, from, op) is in place. Receive into a second tensor: empty_like(tensor).
  // It adds up for AVG: divide_if_average (collectives/average.h) does the rest. When, where?
  throw NotImplemented("reduce_naive");
}

}  // namespace rankbox
