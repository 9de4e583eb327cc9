// All receives are posted at once; one port takes them one by one.
#include <vector>

#include "collectives/gather_naive.h"

namespace rankbox {

void gather_naive(Comm& dist, const Tensor& tensor, Tensor& gathered, int dst) {
  const int world_size = dist.world_size();
  if (dist.rank() != dst) return dist.send(tensor, dst);
  std::vector<Request> coming;
  for (int src = world_size - 1; src >= 0; --src) {
    if (src != dst) coming.push_back(dist.irecv(chunk(gathered, src, world_size), src));
  }
  copy(chunk(gathered, dst, world_size), tensor);
  dist.wait_all(coming);
}

}  // namespace rankbox
