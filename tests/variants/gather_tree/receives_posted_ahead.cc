// The receives of all children are posted at once, into one block.
#include <algorithm>
#include <vector>

#include "collectives/gather_tree.h"
#include "collectives/topology.h"

namespace rankbox {

void gather_tree(Comm& dist, const Tensor& tensor, Tensor& gathered, int dst) {
  const int p = dist.world_size();
  const int me = virtual_rank_of(dist.rank(), dst, p);
  const std::int64_t n = tensor.size();
  int mine = 1;  // ranks of this subtree, if the world goes on
  while (mine < p && me % (2 * mine) == 0) mine *= 2;
  const int end = std::min(me + mine, p);
  Tensor block((end - me) * n);
  std::vector<Request> coming;
  for (int child = me + 1, width = 1; child < end; child = me + width) {
    const int last = std::min(child + width, end);
    coming.push_back(
        dist.irecv(Slice(block).sub((child - me) * n, (last - me) * n), rank_of(child, dst, p)));
    width *= 2;
  }
  copy(Slice(block).sub(0, n), tensor);
  dist.wait_all(coming);
  if (me > 0) return dist.send(block, rank_of(me - mine, dst, p));
  for (int i = 0; i < p; ++i)
    copy(chunk(gathered, rank_of(i, dst, p), p), Slice(block).sub(i * n, (i + 1) * n));
}

}  // namespace rankbox
