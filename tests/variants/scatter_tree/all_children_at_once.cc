// All children are served at once, the farthest first.
#include <algorithm>
#include <vector>

#include "collectives/scatter_tree.h"
#include "collectives/topology.h"

namespace rankbox {

void scatter_tree(Comm& dist, const Tensor& whole, Tensor& piece, int src) {
  const int p = dist.world_size();
  const int me = virtual_rank_of(dist.rank(), src, p);
  const std::int64_t n = piece.size();
  int width = 1;
  while (width < p && me % (2 * width) == 0) width *= 2;
  const int end = std::min(me + width, p);
  Tensor block((end - me) * n);
  if (me > 0) {
    dist.recv(block, rank_of(me - width, src, p));
  } else {
    for (int i = 0; i < p; ++i)
      copy(Slice(block).sub(i * n, (i + 1) * n), chunk(whole, rank_of(i, src, p), p));
  }
  std::vector<Request> leaving;
  for (int half = width / 2; half > 0; half /= 2) {
    const int child = me + half;
    if (child >= p) continue;
    const int last = std::min(child + half, end);
    leaving.push_back(
        dist.isend(Slice(block).sub((child - me) * n, (last - me) * n), rank_of(child, src, p)));
  }
  copy(piece, Slice(block).sub(0, n));
  dist.wait_all(leaving);
}

}  // namespace rankbox
