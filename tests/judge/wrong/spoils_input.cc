// Judged as gather_naive: correct output, but it overwrites its input.
#include "collectives/gather_naive.h"

namespace rankbox {

void gather_naive(Comm& dist, const Tensor& tensor, Tensor& gathered, int dst) {
  if (dist.rank() != dst) {
    dist.send(tensor, dst);
    if (!tensor.empty()) const_cast<float*>(tensor.data())[0] = 0;
    return;
  }
  for (int rank = 0; rank < dist.world_size(); ++rank) {
    const Slice place = chunk(gathered, rank, dist.world_size());
    if (rank == dst) {
      copy(place, tensor);
    } else {
      dist.recv(place, rank);
    }
  }
}

}  // namespace rankbox
