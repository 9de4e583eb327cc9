// Receives of all children are posted before the first is waited for.
#include <vector>

#include "collectives/average.h"
#include "collectives/reduce_tree.h"
#include "collectives/topology.h"

namespace rankbox {

void reduce_tree(Comm& dist, Tensor& tensor, int dst, ReduceOp op) {
  const int p = dist.world_size();
  const int me = virtual_rank_of(dist.rank(), dst, p);
  std::vector<Tensor> shares;
  std::vector<Request> coming;
  shares.reserve(static_cast<std::size_t>(rounds(p)));
  int distance = 1;
  for (; distance < p && me % (2 * distance) == 0; distance *= 2) {
    if (me + distance >= p) continue;
    shares.push_back(empty_like(tensor));
    coming.push_back(dist.irecv(shares.back(), rank_of(me + distance, dst, p)));
  }
  for (std::size_t i = 0; i < coming.size(); ++i) {
    dist.wait(coming[i]);
    accumulate(tensor, shares[i], op);
  }
  if (me > 0) {
    dist.send(tensor, rank_of(me - distance, dst, p));
  } else {
    divide_if_average(tensor, op, p);
  }
}

}  // namespace rankbox
