// A new tensor in every round, which is the sum of both, in the order of the ranks.
#include <utility>

#include "collectives/allreduce_butterfly.h"
#include "collectives/topology.h"

namespace rankbox {

void allreduce_butterfly(Comm& dist, Tensor& tensor, ReduceOp op) {
  const int world_size = dist.world_size();
  const int core = largest_power_of_two(world_size);
  const int rank = dist.rank();
  if (rank >= core) {
    dist.send(tensor, rank - core);
    return dist.recv(tensor, rank - core);
  }
  if (rank + core < world_size) {
    Tensor twin = empty_like(tensor);
    dist.recv(twin, rank + core);
    accumulate(tensor, twin, op);
  }
  for (int round = 0; 1 << round < core; ++round) {
    const int partner = rank ^ (1 << round);
    Tensor theirs = empty_like(tensor);
    dist.sendrecv(tensor, partner, theirs, partner);
    if (partner < rank) std::swap(tensor, theirs);
    accumulate(tensor, theirs, op);
  }
  if (op == ReduceOp::AVG) tensor /= static_cast<float>(world_size);
  if (rank + core < world_size) dist.send(tensor, rank + core);
}

}  // namespace rankbox
