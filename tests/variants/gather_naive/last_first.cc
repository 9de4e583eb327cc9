// The last rank first, each receive a request that is waited for at once.
#include "collectives/gather_naive.h"

namespace rankbox {

void gather_naive(Comm& dist, const Tensor& tensor, Tensor& gathered, int dst) {
  if (dist.rank() != dst) return dist.wait(dist.isend(tensor, dst));
  for (int src = dist.world_size(); src-- > 0;) {
    const Slice place = chunk(gathered, src, dist.world_size());
    if (src == dst) {
      copy(place, tensor);
    } else {
      dist.wait(dist.irecv(place, src));
    }
  }
}

}  // namespace rankbox
