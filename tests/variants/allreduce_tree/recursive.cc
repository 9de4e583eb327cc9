// A recursion over ranges of ranks: in, both halves; then the first ranks of both; and out again.
#include "collectives/allreduce_tree.h"
#include "collectives/average.h"

namespace rankbox {

namespace {

int middle_of(int begin, int end) { return begin + (end - begin + 1) / 2; }

void sum_range(Comm& dist, Tensor& tensor, ReduceOp op, int begin, int end) {
  if (end - begin <= 1) return;
  const int middle = middle_of(begin, end);
  const bool lower = dist.rank() < middle;
  sum_range(dist, tensor, op, lower ? begin : middle, lower ? middle : end);
  if (dist.rank() == middle) dist.send(tensor, begin);
  if (dist.rank() != begin) return;
  Tensor received = empty_like(tensor);
  dist.recv(received, middle);
  accumulate(tensor, received, op);
}

void tell_range(Comm& dist, Tensor& tensor, int begin, int end) {
  if (end - begin <= 1) return;
  const int middle = middle_of(begin, end);
  const bool lower = dist.rank() < middle;
  if (dist.rank() == begin) dist.send(tensor, middle);
  if (dist.rank() == middle) dist.recv(tensor, begin);
  tell_range(dist, tensor, lower ? begin : middle, lower ? middle : end);
}

}  // namespace

void allreduce_tree(Comm& dist, Tensor& tensor, ReduceOp op) {
  sum_range(dist, tensor, op, 0, dist.world_size());
  tell_range(dist, tensor, 0, dist.world_size());
  divide_if_average(tensor, op, dist.world_size());
}

}  // namespace rankbox
