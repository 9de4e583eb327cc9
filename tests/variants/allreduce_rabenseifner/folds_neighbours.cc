// As in MPICH: of the first 2r ranks the even ones fold into the odd ones, r = p - q.
#include <vector>

#include "collectives/allreduce_rabenseifner.h"
#include "collectives/average.h"
#include "collectives/topology.h"

namespace rankbox {

void allreduce_rabenseifner(Comm& dist, Tensor& tensor, ReduceOp op) {
  const int world_size = dist.world_size();
  const int core = largest_power_of_two(world_size);
  const int extra = world_size - core;
  const int rank = dist.rank();
  const bool folds = rank < 2 * extra;
  if (folds && rank % 2 == 0) {
    dist.send(tensor, rank + 1);
    return dist.recv(tensor, rank + 1);
  }
  Tensor received = empty_like(tensor);
  if (folds) {
    dist.recv(received, rank - 1);
    accumulate(tensor, received, op);
  }
  const int me = folds ? rank / 2 : rank - extra;
  const auto partner_at = [&](int distance) {
    const int other = me ^ distance;
    return other < extra ? 2 * other + 1 : other + extra;
  };

  std::vector<Slice> ranges = {tensor};
  for (int distance = 1; distance < core; distance *= 2) {
    const int half = (me & distance) == 0 ? 0 : 1;
    const Slice mine = chunk(ranges.back(), half, 2);
    const Slice share = Slice(received).sub(0, mine.size());
    const Request leaving = dist.isend(chunk(ranges.back(), 1 - half, 2), partner_at(distance));
    dist.recv(share, partner_at(distance));
    dist.wait(leaving);
    accumulate(mine, share, op);
    ranges.push_back(mine);
  }
  divide_if_average(ranges.back(), op, world_size);
  for (int distance = core / 2; distance >= 1; distance /= 2) {
    const int half = (me & distance) == 0 ? 0 : 1;
    const Slice mine = ranges.back();
    ranges.pop_back();
    dist.sendrecv(mine, partner_at(distance), chunk(ranges.back(), 1 - half, 2),
                  partner_at(distance));
  }
  if (folds) dist.send(tensor, rank - 1);
}

}  // namespace rankbox
