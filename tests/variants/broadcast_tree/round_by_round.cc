// A recursion over the rounds: the earlier ones first, then the last.
#include "collectives/broadcast_tree.h"
#include "collectives/topology.h"

namespace rankbox {

namespace {

struct Tree {
  Comm& dist;
  Slice tensor;
  int src;

  int rank_at(int virtual_rank) const { return rank_of(virtual_rank, src, dist.world_size()); }

  /// The first `ranks` virtual ranks get it.
  void reach(int ranks, int me) const {
    if (ranks == 1) return;
    const int half = largest_power_of_two(ranks - 1);
    reach(half, me);
    if (me < half && me + half < dist.world_size()) dist.send(tensor, rank_at(me + half));
    if (me >= half && me < 2 * half) dist.recv(tensor, rank_at(me - half));
  }
};

}  // namespace

void broadcast_tree(Comm& dist, Tensor& tensor, int src) {
  const int p = dist.world_size();
  Tree{dist, tensor, src}.reach(p, virtual_rank_of(dist.rank(), src, p));
}

}  // namespace rankbox
