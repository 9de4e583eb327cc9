// All sends are started before the first is waited for; one port sends them one by one.
#include <vector>

#include "collectives/broadcast_naive.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  if (dist.rank() != src) return dist.recv(tensor, src);
  std::vector<Request> requests;
  for (int dst = dist.world_size() - 1; dst >= 0; --dst) {
    if (dst != src) requests.push_back(dist.isend(tensor, dst));
  }
  dist.wait_all(requests);
}

}  // namespace rankbox
