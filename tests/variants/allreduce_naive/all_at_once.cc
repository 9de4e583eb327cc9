// Rank 0 posts all receives, adds what has come, and starts all sends.
#include <vector>

#include "collectives/allreduce_naive.h"
#include "collectives/average.h"

namespace rankbox {

void allreduce_naive(Comm& dist, Tensor& tensor, ReduceOp op) {
  if (dist.rank() != 0) {
    dist.send(tensor, 0);
    dist.recv(tensor, 0);
    return;
  }
  const int p = dist.world_size();
  std::vector<Tensor> shares;
  for (int rank = 1; rank < p; ++rank) shares.push_back(empty_like(tensor));
  std::vector<Request> requests;
  for (int rank = 1; rank < p; ++rank)
    requests.push_back(dist.irecv(shares[static_cast<std::size_t>(rank - 1)], rank));
  dist.wait_all(requests);
  for (const Tensor& share : shares) accumulate(tensor, share, op);
  divide_if_average(tensor, op, p);
  requests.clear();
  for (int rank = 1; rank < p; ++rank) requests.push_back(dist.isend(tensor, rank));
  dist.wait_all(requests);
}

}  // namespace rankbox
