#include "collectives/allgather_naive.h"

namespace rankbox {

void allgather_naive(Comm& dist, const Tensor& tensor, Tensor& gathered) {
  // TODO: all to one, then one to all.
  // gather_naive and broadcast_naive exist (include their headers): the answer is two calls.
  // What does rank 0 send that its receivers already have?
  throw NotImplemented("allgather_naive");
}

}  // namespace rankbox
