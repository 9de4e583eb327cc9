#include "collectives/allreduce_ring_segmented.h"

#include <string>

#include "collectives/average.h"
#include "collectives/segment.h"
#include "collectives/topology.h"

namespace rankbox {

void allreduce_ring_segmented(Comm& dist, Tensor& tensor, ReduceOp op, int segments) {
  if (segments < 1) {
    throw InvalidArgument("allreduce_ring_segmented: " + std::to_string(segments) +
                          " segments cannot hold a chunk: segments >= 1 is needed");
  }
  const int world_size = dist.world_size();
  const int rank = dist.rank();
  const int next = next_rank(rank, world_size);
  const int prev = prev_rank(rank, world_size);
  const int half = (world_size - 1) * segments;  // messages that are added; as many are not

  // Message k belongs to step k / segments, in which chunk rank - step leaves, in both halves.
  const auto part = [&](int first_chunk, int k) {
    const int c = wrap(first_chunk - k / segments, world_size);
    return segment(chunk(tensor, c, world_size), k % segments, segments);
  };
  const auto leaving = [&](int k) { return part(rank, k); };
  const auto coming = [&](int k) { return part(rank - 1, k); };

  // While one buffer is being filled, the other is added. The largest chunk has ⌈N/p⌉ elements.
  const std::int64_t chunk_size = (tensor.size() + world_size - 1) / world_size;
  Tensor buffers[] = {Tensor((chunk_size + segments - 1) / segments),
                      Tensor((chunk_size + segments - 1) / segments)};
  const auto received = [&](int k) {
    return k < half ? Slice(buffers[k % 2]).sub(0, coming(k).size()) : coming(k);
  };

  Request receiving;
  Request sending;
  const auto start = [&](int k) {
    if (k == 2 * half) return;
    receiving = dist.irecv(received(k), prev);
    sending = dist.isend(leaving(k), next);
  };
  const auto add = [&](int k) {
    if (k >= half) return;
    accumulate(coming(k), received(k), op);
    // What arrives in the last step of the first half has been on every rank: it is complete.
    if (k >= half - segments) divide_if_average(coming(k), op, world_size);
  };

  start(0);
  for (int k = 0; k < 2 * half; ++k) {
    dist.wait_all({receiving, sending});
    // Message k+1 passes on what message k+1-segments has brought. Of one segment, that is k.
    if (segments == 1) add(k);
    start(k + 1);
    if (segments > 1) add(k);
  }
}

}  // namespace rankbox
