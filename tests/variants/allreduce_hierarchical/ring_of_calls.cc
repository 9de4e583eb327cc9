// Calls the two rings, and halves and doubles between the nodes itself. AVG is divided at the end.
#include <vector>

#include "collectives/allgather_ring.h"
#include "collectives/allreduce_hierarchical.h"
#include "collectives/average.h"
#include "collectives/reduce_scatter_ring.h"
#include "collectives/topology.h"

namespace rankbox {

namespace {

void halve_and_double(Comm& dist, Tensor& tensor, ReduceOp op) {
  const int core = largest_power_of_two(dist.world_size());
  const int rank = dist.rank();
  if (rank >= core) {
    dist.send(tensor, rank - core);
    dist.recv(tensor, rank - core);
    return;
  }
  Tensor other = empty_like(tensor);
  const bool has_surplus = rank + core < dist.world_size();
  if (has_surplus) {
    dist.recv(other, rank + core);
    accumulate(tensor, other, op);
  }
  struct Level {
    Slice kept;
    Slice given;
    int partner;
  };
  std::vector<Level> levels;
  Slice range = tensor;
  for (int distance = core / 2; distance > 0; distance /= 2) {
    const int upper = (rank & distance) != 0 ? 1 : 0;
    const Level level = {chunk(range, upper, 2), chunk(range, 1 - upper, 2), rank ^ distance};
    const Slice incoming = Slice(other).sub(0, level.kept.size());
    dist.sendrecv(level.given, level.partner, incoming, level.partner);
    accumulate(level.kept, incoming, op);
    levels.push_back(level);
    range = level.kept;
  }
  for (; !levels.empty(); levels.pop_back()) {
    const Level& level = levels.back();
    dist.sendrecv(level.kept, level.partner, level.given, level.partner);
  }
  if (has_surplus) dist.send(tensor, rank + core);
}

}  // namespace

void allreduce_hierarchical(Comm& node, Comm& counterparts, Tensor& tensor, ReduceOp op) {
  const int local_ranks = node.world_size();
  const std::int64_t missing = (local_ranks - tensor.size() % local_ranks) % local_ranks;
  Tensor longer = zeros(tensor.size() + missing);
  copy(Slice(longer).sub(0, tensor.size()), tensor);
  Tensor piece(longer.size() / local_ranks);
  reduce_scatter_ring(node, longer, piece, sum_if_average(op));
  halve_and_double(counterparts, piece, sum_if_average(op));
  allgather_ring(node, piece, longer);
  divide_if_average(longer, op, local_ranks * counterparts.world_size());
  copy(tensor, Slice(longer).sub(0, tensor.size()));
}

}  // namespace rankbox
