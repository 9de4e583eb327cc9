// Up and down one tree with root 0: every rank has room for all, so blocks lie in their places.
#include <algorithm>

#include "collectives/allgather_tree.h"

namespace rankbox {

void allgather_tree(Comm& dist, const Tensor& tensor, Tensor& gathered) {
  const int rank = dist.rank();
  const int world_size = dist.world_size();
  const std::int64_t n = tensor.size();
  const auto ranks = [&](int begin, int end) {
    return Slice(gathered).sub(begin * n, std::min(end, world_size) * n);
  };
  copy(ranks(rank, rank + 1), tensor);
  int mask = 1;
  for (; mask < world_size && (rank & mask) == 0; mask *= 2) {
    const int child = rank + mask;
    if (child < world_size) dist.recv(ranks(child, child + mask), child);
  }
  if (rank != 0) {
    dist.send(ranks(rank, rank + mask), rank - mask);
    dist.recv(gathered, rank - mask);
  }
  for (mask /= 2; mask > 0; mask /= 2) {
    if (rank + mask < world_size) dist.send(gathered, rank + mask);
  }
}

}  // namespace rankbox
