// Both halves written out, and rank 0 a function of its own.
#include "collectives/allreduce_naive.h"
#include "collectives/average.h"

namespace rankbox {

namespace {

void lead(Comm& dist, Tensor& tensor, ReduceOp op) {
  const int world_size = dist.world_size();
  Tensor share = empty_like(tensor);
  for (int rank = 1; rank < world_size; ++rank) {
    dist.recv(share, rank);
    accumulate(tensor, share, op);
  }
  divide_if_average(tensor, op, world_size);
  for (int rank = 1; rank < world_size; ++rank) dist.send(tensor, rank);
}

}  // namespace

void allreduce_naive(Comm& dist, Tensor& tensor, ReduceOp op) {
  if (dist.rank() == 0) {
    lead(dist, tensor, op);
  } else {
    dist.send(tensor, 0);
    dist.recv(tensor, 0);
  }
}

}  // namespace rankbox
