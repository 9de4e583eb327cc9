// Messages are objects in two slots: one is in flight while the other is added.
#include <array>

#include "collectives/allreduce_ring_segmented.h"
#include "collectives/average.h"
#include "collectives/segment.h"
#include "collectives/topology.h"

namespace rankbox {

namespace {

struct Slot {
  Tensor buffer;
  Request coming;
  Request leaving;
};

}  // namespace

void allreduce_ring_segmented(Comm& dist, Tensor& tensor, ReduceOp op, int segments) {
  const int p = dist.world_size();
  const int half = (p - 1) * segments;
  const auto part = [&](int k, int back) {
    const Slice whole = chunk(tensor, wrap(dist.rank() - k / segments - back, p), p);
    return segment(whole, k % segments, segments);
  };
  std::array<Slot, 2> slots;
  const auto at = [&](int k) -> Slot& { return slots[static_cast<std::size_t>(k % 2)]; };
  const auto start = [&](int k) {
    if (k >= 2 * half) return;
    const Slice in = part(k, 1);
    if (k < half && at(k).buffer.size() != in.size()) at(k).buffer = Tensor(in.size());
    at(k).leaving = dist.isend(part(k, 0), next_rank(dist.rank(), p));
    at(k).coming = dist.irecv(k < half ? Slice(at(k).buffer) : in, prev_rank(dist.rank(), p));
  };
  const auto finish = [&](int k) {
    dist.wait(at(k).coming);
    dist.wait(at(k).leaving);
  };
  const auto add = [&](int k) {
    if (k >= half) return;
    accumulate(part(k, 1), at(k).buffer, op);
    if (k + segments >= half) divide_if_average(part(k, 1), op, p);
  };
  start(0);
  for (int k = 0; k < 2 * half; ++k) {
    finish(k);
    if (segments == 1) add(k);
    start(k + 1);
    if (segments != 1) add(k);
  }
}

}  // namespace rankbox
