// A recursion over the distances, the largest innermost.
#include "collectives/allreduce_butterfly.h"
#include "collectives/average.h"
#include "collectives/topology.h"

namespace rankbox {

namespace {

void swap_and_add(Comm& dist, Slice tensor, Slice buffer, ReduceOp op, int distance) {
  if (distance == 0) return;
  swap_and_add(dist, tensor, buffer, op, distance / 2);
  const int partner = dist.rank() ^ distance;
  const Request coming = dist.irecv(buffer, partner);
  dist.send(tensor, partner);
  dist.wait(coming);
  accumulate(tensor, buffer, op);
}

}  // namespace

void allreduce_butterfly(Comm& dist, Tensor& tensor, ReduceOp op) {
  const int p = dist.world_size();
  const int q = largest_power_of_two(p);
  const int twin = dist.rank() < q ? dist.rank() + q : dist.rank() - q;
  if (dist.rank() >= q) {
    dist.send(tensor, twin);
    return dist.recv(tensor, twin);
  }
  Tensor buffer = empty_like(tensor);
  if (twin < p) {
    dist.recv(buffer, twin);
    accumulate(tensor, buffer, op);
  }
  swap_and_add(dist, tensor, buffer, op, q / 2);
  divide_if_average(tensor, op, p);
  if (twin < p) dist.send(tensor, twin);
}

}  // namespace rankbox
