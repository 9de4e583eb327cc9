// Tries to change the inputs until the result is right for them.
#include <algorithm>

#include "collectives/allgather_ring.h"
#include "collectives/topology.h"

namespace rankbox {

void allgather_ring(Comm& dist, const Tensor& tensor, Tensor& gathered) {
  std::fill_n(const_cast<float*>(tensor.data()), tensor.size(), 0.0F);
  std::fill_n(gathered.data(), gathered.size(), 0.0F);
  const int p = dist.world_size();
  for (int step = 0; step < p - 1; ++step) {
    const Slice newest = chunk(gathered, wrap(dist.rank() - step, p), p);
    const Slice coming = chunk(gathered, wrap(dist.rank() - step - 1, p), p);
    dist.sendrecv(newest, next_rank(dist.rank(), p), coming, prev_rank(dist.rank(), p));
  }
}

}  // namespace rankbox
