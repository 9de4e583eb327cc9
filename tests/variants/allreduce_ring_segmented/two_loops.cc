// The ring the other way round, with a loop for each half: the last addition is exposed.
#include <vector>

#include "collectives/allreduce_ring_segmented.h"
#include "collectives/average.h"
#include "collectives/segment.h"
#include "collectives/topology.h"

namespace rankbox {

void allreduce_ring_segmented(Comm& dist, Tensor& tensor, ReduceOp op, int segments) {
  const int p = dist.world_size();
  const int rank = dist.rank();
  if (p == 1) return;  // AVG of one is itself
  const int messages = (p - 1) * segments;
  const auto part = [&](int c, int k) {
    return segment(chunk(tensor, wrap(c + k / segments, p), p), k % segments, segments);
  };
  Tensor buffers[] = {Tensor(tensor.size()), Tensor(tensor.size())};

  const auto pass = [&](int first, bool adds) {
    std::vector<Request> requests;
    const auto received = [&](int k) {
      const Slice to = part(first + 1, k);
      return adds ? Slice(buffers[k % 2]).sub(0, to.size()) : to;
    };
    const auto start = [&](int k) {
      requests = {dist.irecv(received(k), next_rank(rank, p)),
                  dist.isend(part(first, k), prev_rank(rank, p))};
    };
    start(0);
    for (int k = 0; k < messages; ++k) {
      dist.wait_all(requests);
      const bool overlaps = segments > 1 && k + 1 < messages;
      if (overlaps) start(k + 1);
      if (adds) accumulate(part(first + 1, k), received(k), op);
      if (!overlaps && k + 1 < messages) start(k + 1);
    }
  };
  pass(rank, true);
  divide_if_average(chunk(tensor, wrap(rank - 1, p), p), op, p);
  pass(rank - 1, false);
}

}  // namespace rankbox
