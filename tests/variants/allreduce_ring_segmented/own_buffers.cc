// Segments are chunks of chunks, every message has its own buffer, and AVG divides at the end.
#include <vector>

#include "collectives/allreduce_ring_segmented.h"
#include "collectives/average.h"
#include "collectives/topology.h"

namespace rankbox {

void allreduce_ring_segmented(Comm& dist, Tensor& tensor, ReduceOp op, int segments) {
  const int p = dist.world_size();
  const int messages = 2 * (p - 1) * segments;
  const auto part = [&](int c, int k) {
    return chunk(chunk(tensor, wrap(c - k / segments, p), p), k % segments, segments);
  };
  std::vector<Tensor> arrived;
  for (int k = 0; k < messages; ++k) arrived.emplace_back(part(dist.rank() - 1, k).size());
  std::vector<Request> requests;
  const auto start = [&](int k) {
    if (k == messages) return;
    requests.push_back(dist.isend(part(dist.rank(), k), next_rank(dist.rank(), p)));
    requests.push_back(dist.irecv(arrived[static_cast<std::size_t>(k)], prev_rank(dist.rank(), p)));
  };
  const auto take = [&](int k) {
    const Slice into = part(dist.rank() - 1, k);
    const Tensor& from = arrived[static_cast<std::size_t>(k)];
    if (2 * k < messages) {
      accumulate(into, from, op);
    } else {
      copy(into, from);
    }
  };

  start(0);
  for (int k = 0; k < messages; ++k) {
    dist.wait_all(requests);
    requests.clear();
    if (segments > 1) {
      start(k + 1);
      take(k);
    } else {
      take(k);
      start(k + 1);
    }
  }
  divide_if_average(tensor, op, p);
}

}  // namespace rankbox
