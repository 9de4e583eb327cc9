#include "collectives/cost.h"
#include "collectives/topology.h"

namespace rankbox::cost {

Cost reduce_naive(int world_size, std::int64_t elements, std::int64_t element_bytes) {
  const double steps = world_size - 1;
  const double bytes = steps * static_cast<double>(elements * element_bytes);
  return {steps, bytes, bytes};
}

Cost reduce_tree(int world_size, std::int64_t elements, std::int64_t element_bytes) {
  const double steps = rounds(world_size);
  const double bytes = steps * static_cast<double>(elements * element_bytes);
  return {steps, bytes, bytes};
}

Cost reduce_scatter_gather(int world_size, std::int64_t elements, std::int64_t element_bytes) {
  // The critical path follows the larger half in every round: down while halving, and up again
  // while gathering, since it is the half that the collecting rank lacks.
  const int halvings = floor_log2(world_size);
  std::int64_t range = elements;
  std::int64_t halved = 0;
  for (int round = 0; round < halvings; ++round) {
    range = (range + 1) / 2;
    halved += range;
  }
  const double bytes = static_cast<double>(halved * element_bytes);
  Cost cost = {2.0 * halvings, 2 * bytes, bytes};

  if (!is_power_of_two(world_size)) {
    const double whole = static_cast<double>(elements * element_bytes);
    cost = cost + Cost{1, whole, whole};
  }
  return cost;
}

}  // namespace rankbox::cost
