#include <algorithm>
#include <cmath>

#include "collectives/cost.h"
#include "collectives/topology.h"

namespace rankbox::cost {

Cost broadcast_naive(int world_size, std::int64_t elements, std::int64_t element_bytes) {
  const double steps = world_size - 1;
  return {steps, steps * static_cast<double>(elements * element_bytes), 0};
}

Cost broadcast_tree(int world_size, std::int64_t elements, std::int64_t element_bytes) {
  const double steps = rounds(world_size);
  return {steps, steps * static_cast<double>(elements * element_bytes), 0};
}

Cost broadcast_ring(int world_size, std::int64_t elements, std::int64_t element_bytes) {
  return broadcast_naive(world_size, elements, element_bytes);
}

Cost broadcast_ring_pipelined(int world_size, std::int64_t elements, std::int64_t element_bytes,
                              int segments) {
  if (world_size == 1) {
    return {};
  }
  // All segments leave src one after the other; then the first one, which is among the largest,
  // crosses the other p-2 links.
  const std::int64_t largest = (elements + segments - 1) / segments;
  const std::int64_t sent = elements + (world_size - 2) * largest;
  return {static_cast<double>(world_size + segments - 2), static_cast<double>(sent * element_bytes),
          0};
}

Cost broadcast_scatter_allgather(int world_size, std::int64_t elements,
                                 std::int64_t element_bytes) {
  if (world_size == 1) {
    return {};
  }
  // src sends all pieces but its own, and no rank takes longer. Then its piece, which is among the
  // largest, crosses p-1 links.
  const std::int64_t piece = (elements + world_size - 1) / world_size;
  const std::int64_t sent = (elements - piece) + (world_size - 1) * piece;
  return {static_cast<double>(rounds(world_size) + world_size - 1),
          static_cast<double>(sent * element_bytes), 0};
}

int best_segments(int world_size, std::int64_t bytes, const Link& link) {
  const double hops_that_wait = std::max(0, world_size - 2);
  const double best =
      std::sqrt(hops_that_wait * static_cast<double>(bytes) * link.beta / link.alpha);
  // A link without latency asks for infinitely many: stay within what an int and a slice can hold.
  const double most = static_cast<double>(std::clamp<std::int64_t>(bytes, 1, 1 << 20));
  return best >= 1 ? static_cast<int>(std::lround(std::min(best, most))) : 1;
}

}  // namespace rankbox::cost
