// Up and down the same tree, in one function: the last rank asked is the first to get the sum.
#include "collectives/allreduce_tree.h"
#include "collectives/average.h"

namespace rankbox {

void allreduce_tree(Comm& dist, Tensor& tensor, ReduceOp op) {
  const int world_size = dist.world_size();
  const int rank = dist.rank();
  Tensor received = empty_like(tensor);
  int distance = 1;
  for (; distance < world_size && (rank & distance) == 0; distance *= 2) {
    if (rank + distance >= world_size) continue;
    dist.recv(received, rank + distance);
    accumulate(tensor, received, op);
  }
  if (rank == 0) {
    divide_if_average(tensor, op, world_size);
  } else {
    dist.send(tensor, rank - distance);
    dist.recv(tensor, rank - distance);
  }
  for (distance /= 2; distance >= 1; distance /= 2) {
    if (rank + distance < world_size) dist.send(tensor, rank + distance);
  }
}

}  // namespace rankbox
