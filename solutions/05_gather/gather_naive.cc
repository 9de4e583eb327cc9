#include "collectives/gather_naive.h"

namespace rankbox {

void gather_naive(Comm& dist, const Tensor& tensor, Tensor& gathered, int dst) {
  const int world_size = dist.world_size();

  if (dist.rank() != dst) {
    dist.send(tensor, dst);
    return;
  }

  // Receive each tensor straight into its place, so that nothing is left to reorder. A rank cannot
  // send to itself: its own tensor is copied.
  for (int src = 0; src < world_size; ++src) {
    const Slice place = chunk(gathered, src, world_size);
    if (src == dst) {
      copy(place, tensor);
    } else {
      dist.recv(place, src);
    }
  }
}

}  // namespace rankbox
