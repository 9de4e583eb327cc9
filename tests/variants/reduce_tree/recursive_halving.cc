// A recursion over ranges of ranks: both halves are reduced, then the second joins the first.
#include "collectives/average.h"
#include "collectives/reduce_tree.h"
#include "collectives/topology.h"

namespace rankbox {

namespace {

void reduce_range(Comm& dist, Tensor& tensor, int dst, ReduceOp op, int begin, int end) {
  if (end - begin <= 1) return;
  const int world_size = dist.world_size();
  const int middle = begin + (end - begin + 1) / 2;
  const int place = virtual_rank_of(dist.rank(), dst, world_size);
  if (place < middle) {
    reduce_range(dist, tensor, dst, op, begin, middle);
  } else {
    reduce_range(dist, tensor, dst, op, middle, end);
  }
  if (place == middle) dist.send(tensor, rank_of(begin, dst, world_size));
  if (place == begin) {
    Tensor received(tensor.shape());
    dist.recv(received, rank_of(middle, dst, world_size));
    accumulate(tensor, received, op);
  }
}

}  // namespace

void reduce_tree(Comm& dist, Tensor& tensor, int dst, ReduceOp op) {
  const int world_size = dist.world_size();
  reduce_range(dist, tensor, dst, op, 0, world_size);
  if (dist.rank() == dst) divide_if_average(tensor, op, world_size);
}

}  // namespace rankbox
