#include "collectives/alltoall_pairwise.h"

namespace rankbox {

void alltoall_pairwise(Comm& dist, const Tensor& input, Tensor& output) {
  // TODO: in step k, send to the rank k after you and receive from the rank k before you.
  // chunk(input, d, p) is for rank d; what rank s sends belongs in chunk(output, s, p).
  // Your own chunk stays here: copy(into, from).
  throw NotImplemented("alltoall_pairwise");
}

}  // namespace rankbox
