// All receives are posted at once, in the order in which tensors come, and sends follow them.
#include <vector>

#include "collectives/allgather_ring.h"
#include "collectives/topology.h"

namespace rankbox {

void allgather_ring(Comm& dist, const Tensor& tensor, Tensor& gathered) {
  const int p = dist.world_size();
  const int next = next_rank(dist.rank(), p);
  const auto place = [&](int back) { return chunk(gathered, wrap(dist.rank() - back, p), p); };
  std::vector<Request> coming;
  for (int back = 1; back < p; ++back)
    coming.push_back(dist.irecv(place(back), prev_rank(dist.rank(), p)));
  copy(place(0), tensor);
  for (int back = 0; back + 1 < p; ++back) {
    dist.send(place(back), next);
    dist.wait(coming[static_cast<std::size_t>(back)]);
  }
}

}  // namespace rankbox
