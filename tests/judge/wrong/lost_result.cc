// Judged as allreduce_naive: the sum goes into a copy, and is lost.
#include "collectives/allreduce_naive.h"
#include "collectives/average.h"
#include "collectives/broadcast_naive.h"

namespace rankbox {

namespace {

void add(Tensor tensor, const Tensor& received, ReduceOp op) { accumulate(tensor, received, op); }

}  // namespace

void allreduce_naive(Comm& dist, Tensor& tensor, ReduceOp op) {
  if (dist.rank() != 0) {
    dist.send(tensor, 0);
  } else {
    Tensor received = empty_like(tensor);
    for (int rank = 1; rank < dist.world_size(); ++rank) {
      dist.recv(received, rank);  // HERE
      add(tensor, received, op);
    }
    divide_if_average(tensor, op, dist.world_size());
  }
  broadcast_naive(dist, tensor, 0);
}

}  // namespace rankbox
