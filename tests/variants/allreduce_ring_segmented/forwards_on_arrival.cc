// All receives of a step are posted ahead, and a segment leaves as soon as it has been added; sends
// are waited for when their memory is written to again.
#include <vector>

#include "collectives/allreduce_ring_segmented.h"
#include "collectives/average.h"
#include "collectives/segment.h"
#include "collectives/topology.h"

namespace rankbox {

void allreduce_ring_segmented(Comm& dist, Tensor& tensor, ReduceOp op, int segments) {
  const int p = dist.world_size();
  const int rank = dist.rank();
  const auto s = static_cast<std::size_t>(segments);
  const auto part = [&](int c, std::size_t i) {
    return segment(chunk(tensor, wrap(c, p), p), static_cast<int>(i), segments);
  };
  std::vector<Tensor> buffers;
  for (std::size_t i = 0; i < s; ++i) buffers.emplace_back(tensor.size());
  std::vector<Request> coming(s);
  std::vector<Request> leaving;
  const auto receive = [&](int step, std::size_t i) {
    const std::int64_t size = part(rank - step - 1, i).size();
    coming[i] = dist.irecv(Slice(buffers[i]).sub(0, size), prev_rank(rank, p));
  };

  const int steps = 2 * (p - 1);
  for (std::size_t i = 0; i < s && steps > 0; ++i) receive(0, i);
  for (std::size_t i = 0; i < s && steps > 0; ++i)
    leaving.push_back(dist.isend(part(rank, i), next_rank(rank, p)));
  for (int step = 0; step < steps; ++step) {
    for (std::size_t i = 0; i < s; ++i) {
      dist.wait(coming[i]);
      const Slice here = part(rank - step - 1, i);
      const Slice received = Slice(buffers[i]).sub(0, here.size());
      if (step < p - 1) {
        accumulate(here, received, op);
      } else {
        dist.wait(leaving[static_cast<std::size_t>(step - p + 1) * s + i]);
        copy(here, received);
      }
      if (step == p - 2) divide_if_average(here, op, p);
      if (step + 1 == steps) continue;
      receive(step + 1, i);
      leaving.push_back(dist.isend(here, next_rank(rank, p)));
    }
  }
  dist.wait_all(leaving);
}

}  // namespace rankbox
