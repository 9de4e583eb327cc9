// A buffer for what leaves and one for what comes, and a function for each step.
#include <utility>

#include "collectives/alltoall_pairwise.h"
#include "collectives/topology.h"

namespace rankbox {

namespace {

void swap_with(Comm& dist, const Tensor& input, Tensor& output, int step) {
  const int world_size = dist.world_size();
  const int dst = wrap(dist.rank() + step, world_size);
  const int src = wrap(dist.rank() - step, world_size);
  Tensor leaving(chunk(input, dst, world_size).size());
  Tensor coming(chunk(output, src, world_size).size());
  copy(leaving, chunk(input, dst, world_size));
  if (step == 0) {
    std::swap(coming, leaving);
  } else {
    dist.sendrecv(leaving, dst, coming, src);
  }
  copy(chunk(output, src, world_size), coming);
}

}  // namespace

void alltoall_pairwise(Comm& dist, const Tensor& input, Tensor& output) {
  const int world_size = dist.world_size();
  for (int step = 0; step < world_size; ++step) swap_with(dist, input, output, step);
}

}  // namespace rankbox
