// The last rank is served first; others receive into a tensor of that shape, and swap.
#include <utility>

#include "collectives/broadcast_naive.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  if (dist.rank() != src) {
    Tensor received = empty_like(tensor);
    dist.recv(received, src);
    std::swap(tensor, received);
  } else {
    for (int dst = dist.world_size() - 1; dst >= 0; --dst)
      if (dst != src) dist.send(tensor, dst);
  }
}

}  // namespace rankbox
