#include "collectives/allgather_naive.h"

#include "collectives/broadcast_naive.h"
#include "collectives/gather_naive.h"

namespace rankbox {

void allgather_naive(Comm& dist, const Tensor& tensor, Tensor& gathered) {
  gather_naive(dist, tensor, gathered, 0);
  broadcast_naive(dist, gathered, 0);
}

}  // namespace rankbox
