// A world of one has nothing to do; the others are a list.
#include <algorithm>
#include <numeric>
#include <vector>

#include "collectives/broadcast_naive.h"

namespace rankbox {

namespace {

std::vector<int> others(int world_size, int me) {
  std::vector<int> ranks(static_cast<std::size_t>(world_size));
  std::iota(ranks.begin(), ranks.end(), 0);
  ranks.erase(ranks.begin() + me);
  return ranks;
}

}  // namespace

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  if (dist.world_size() == 1) return;
  if (dist.rank() != src) {
    const Request coming = dist.irecv(tensor, src);
    dist.wait(coming);
    return;
  }
  const std::vector<int> all = others(dist.world_size(), src);
  std::for_each(all.rbegin(), all.rend(), [&](int dst) { dist.send(tensor, dst); });
}

}  // namespace rankbox
