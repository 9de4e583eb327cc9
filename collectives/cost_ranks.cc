#include "collectives/cost_ranks.h"

#include "collectives/topology.h"

namespace rankbox::cost {

Cost ping_pong(int world_size, std::int64_t elements, std::int64_t element_bytes) {
  const Cost one_way = exchange(world_size, elements, element_bytes);
  return {2 * one_way.steps, 2 * one_way.bytes, 0};
}

Cost exchange(int world_size, std::int64_t elements, std::int64_t element_bytes) {
  if (world_size == 1) return {};
  return {1, static_cast<double>(elements * element_bytes), 0};
}

Cost barrier_dissemination(int world_size, std::int64_t /*elements*/,
                           std::int64_t /*element_bytes*/) {
  return {static_cast<double>(rounds(world_size)), 0, 0};
}

}  // namespace rankbox::cost
