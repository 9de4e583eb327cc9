// The highest bit says when a rank joins, and from whom: no loop over rounds before that.
#include <bit>

#include "collectives/broadcast_tree.h"
#include "collectives/topology.h"

namespace rankbox {

void broadcast_tree(Comm& dist, Tensor& tensor, int src) {
  const int p = dist.world_size();
  const auto v = static_cast<unsigned>(virtual_rank_of(dist.rank(), src, p));
  const auto rank_at = [&](unsigned other) { return rank_of(static_cast<int>(other), src, p); };
  if (v > 0) {
    const Request coming = dist.irecv(tensor, rank_at(v - std::bit_floor(v)));
    dist.wait(coming);
  }
  const unsigned first = v == 0 ? 1 : 2 * std::bit_floor(v);
  for (unsigned child = v + first; child < static_cast<unsigned>(p); child = v + 2 * (child - v))
    dist.send(tensor, rank_at(child));
}

}  // namespace rankbox
