// From the last rank to the first, down again all at once, the average taken by each for itself.
#include <vector>

#include "collectives/allreduce_naive.h"

namespace rankbox {

void allreduce_naive(Comm& dist, Tensor& tensor, ReduceOp op) {
  const int world_size = dist.world_size();
  if (world_size == 1) return;
  if (dist.rank() != 0) {
    dist.send(tensor, 0);
    dist.recv(tensor, 0);
  } else {
    for (int src = world_size - 1; src > 0; --src) {
      Tensor share(tensor.size());
      dist.recv(share, src);
      accumulate(tensor, share, op);
    }
    std::vector<Request> sent;
    for (int dst = world_size - 1; dst > 0; --dst) sent.push_back(dist.isend(tensor, dst));
    dist.wait_all(sent);
  }
  if (op == ReduceOp::AVG) tensor /= static_cast<float>(world_size);
}

}  // namespace rankbox
