// Halving and doubling as one recursion.
#include "collectives/allreduce_rabenseifner.h"
#include "collectives/average.h"
#include "collectives/topology.h"

namespace rankbox {

namespace {

// All ranks that differ in the bits from `distance` up share this range.
void sum_range(Comm& dist, Slice range, ReduceOp op, int distance, int core) {
  if (distance == core) return;
  const int partner = dist.rank() ^ distance;
  const bool upper = partner < dist.rank();
  const Slice mine = chunk(range, upper ? 1 : 0, 2);
  const Slice theirs = chunk(range, upper ? 0 : 1, 2);
  Tensor received(mine.size());
  dist.sendrecv(theirs, partner, received, partner);
  accumulate(mine, received, op);
  sum_range(dist, mine, op, 2 * distance, core);
  dist.sendrecv(mine, partner, theirs, partner);
}

}  // namespace

void allreduce_rabenseifner(Comm& dist, Tensor& tensor, ReduceOp op) {
  const int world_size = dist.world_size();
  const int core = largest_power_of_two(world_size);
  const int rank = dist.rank();
  if (rank >= core) {
    dist.send(tensor, rank - core);
    return dist.recv(tensor, rank - core);
  }
  if (rank + core < world_size) {
    Tensor received = empty_like(tensor);
    dist.recv(received, rank + core);
    accumulate(tensor, received, op);
  }
  sum_range(dist, tensor, op, 1, core);
  divide_if_average(tensor, op, world_size);
  if (rank + core < world_size) dist.send(tensor, rank + core);
}

}  // namespace rankbox
