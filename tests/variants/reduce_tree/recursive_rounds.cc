// One round, and then the tree of the ranks that are left.
#include "collectives/average.h"
#include "collectives/reduce_tree.h"
#include "collectives/topology.h"

namespace rankbox {

namespace {

void reduce_rest(Comm& dist, Slice tensor, Slice received, int dst, ReduceOp op, int distance) {
  const int p = dist.world_size();
  if (distance >= p) return divide_if_average(tensor, op, p);
  const int me = virtual_rank_of(dist.rank(), dst, p);
  if (me % (2 * distance) != 0) return dist.send(tensor, rank_of(me - distance, dst, p));
  if (me + distance < p) {
    dist.wait(dist.irecv(received, rank_of(me + distance, dst, p)));
    accumulate(tensor, received, op);
  }
  reduce_rest(dist, tensor, received, dst, op, 2 * distance);
}

}  // namespace

void reduce_tree(Comm& dist, Tensor& tensor, int dst, ReduceOp op) {
  Tensor received = empty_like(tensor);
  reduce_rest(dist, tensor, received, dst, op, 1);
}

}  // namespace rankbox
