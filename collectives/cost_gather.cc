#include "collectives/cost_gather.h"

#include "collectives/topology.h"

namespace rankbox::cost {
namespace {

double others(int world_size) { return static_cast<double>(world_size - 1); }

double bytes_of(std::int64_t elements, std::int64_t element_bytes) {
  return static_cast<double>(elements * element_bytes);
}

double bytes_of_largest_chunk(int world_size, std::int64_t elements, std::int64_t element_bytes) {
  return bytes_of((elements + world_size - 1) / world_size, element_bytes);
}

}  // namespace

Cost gather_naive(int world_size, std::int64_t elements, std::int64_t element_bytes) {
  return {others(world_size), others(world_size) * bytes_of(elements, element_bytes), 0};
}

Cost gather_tree(int world_size, std::int64_t elements, std::int64_t element_bytes) {
  return {static_cast<double>(rounds(world_size)),
          others(world_size) * bytes_of(elements, element_bytes), 0};
}

Cost scatter_tree(int world_size, std::int64_t elements, std::int64_t element_bytes) {
  return gather_tree(world_size, elements, element_bytes);
}

Cost allgather_naive(int world_size, std::int64_t elements, std::int64_t element_bytes) {
  const Cost up = gather_naive(world_size, elements, element_bytes);
  const double down = bytes_of(world_size * elements, element_bytes);
  return {up.steps + others(world_size), up.bytes + others(world_size) * down, 0};
}

Cost allgather_tree(int world_size, std::int64_t elements, std::int64_t element_bytes) {
  const Cost up = gather_tree(world_size, elements, element_bytes);
  const double down = bytes_of(world_size * elements, element_bytes);
  return {up.steps + rounds(world_size), up.bytes + rounds(world_size) * down, 0};
}

Cost allgather_ring(int world_size, std::int64_t elements, std::int64_t element_bytes) {
  return gather_naive(world_size, elements, element_bytes);
}

Cost allgather_bruck(int world_size, std::int64_t elements, std::int64_t element_bytes) {
  return gather_tree(world_size, elements, element_bytes);
}

Cost reduce_scatter_ring(int world_size, std::int64_t elements, std::int64_t element_bytes) {
  const double bytes =
      others(world_size) * bytes_of_largest_chunk(world_size, elements, element_bytes);
  return {others(world_size), bytes, bytes};
}

Cost alltoall_pairwise(int world_size, std::int64_t elements, std::int64_t element_bytes) {
  const double chunk_bytes = bytes_of_largest_chunk(world_size, elements, element_bytes);
  return {others(world_size), others(world_size) * chunk_bytes, 0};
}

}  // namespace rankbox::cost
