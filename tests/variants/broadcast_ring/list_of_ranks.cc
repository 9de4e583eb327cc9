// The order of the ring is a list, in which a rank looks itself up.
#include <algorithm>
#include <numeric>
#include <vector>

#include "collectives/broadcast_ring.h"

namespace rankbox {

void broadcast_ring(Comm& dist, Tensor& tensor, int src) {
  std::vector<int> ring(static_cast<std::size_t>(dist.world_size()));
  std::iota(ring.begin(), ring.end(), 0);
  std::rotate(ring.begin(), ring.begin() + src, ring.end());
  const auto me = std::find(ring.begin(), ring.end(), dist.rank());
  if (me != ring.begin()) dist.recv(tensor, *(me - 1));
  if (me + 1 != ring.end()) dist.send(tensor, *(me + 1));
}

}  // namespace rankbox
