#include "collectives/reduce_scatter_ring.h"

namespace rankbox {

void reduce_scatter_ring(Comm& dist, Tensor& tensor, Tensor& piece, ReduceOp op) {
  // TODO: in each step pass a chunk on, and add the received one to your own share:
  // accumulate(into, from, op). The last chunk to come must be your own. Which one did you receive
  // before it, and which first? Chunks differ in size by one element where p does not divide N. And
  // AVG is a SUM, then divided.
  throw NotImplemented("reduce_scatter_ring");
}

}  // namespace rankbox
