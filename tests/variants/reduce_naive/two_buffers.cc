// The next share arrives while this one is added.
#include <utility>
#include <vector>

#include "collectives/average.h"
#include "collectives/reduce_naive.h"

namespace rankbox {

void reduce_naive(Comm& dist, Tensor& tensor, int dst, ReduceOp op) {
  if (dist.rank() != dst) {
    dist.wait(dist.isend(tensor, dst));
    return;
  }
  std::vector<int> others;
  for (int rank = 0; rank < dist.world_size(); ++rank)
    if (rank != dst) others.push_back(rank);
  Tensor filling = empty_like(tensor);
  Tensor full_one = empty_like(tensor);
  Request coming;
  if (!others.empty()) coming = dist.irecv(filling, others.front());
  for (std::size_t i = 0; i < others.size(); ++i) {
    dist.wait(coming);
    std::swap(filling, full_one);
    if (i + 1 < others.size()) coming = dist.irecv(filling, others[i + 1]);
    accumulate(tensor, full_one, op);
  }
  divide_if_average(tensor, op, dist.world_size());
}

}  // namespace rankbox
