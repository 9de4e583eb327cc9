#include <algorithm>

#include "collectives/cost.h"
#include "collectives/cost_gather.h"
#include "collectives/topology.h"

namespace rankbox::cost {
namespace {

/// The cost of sending the result to the ranks beyond the power of two: one message.
Cost unfold(int world_size, double bytes) {
  return is_power_of_two(world_size) ? Cost{} : Cost{1, bytes, 0};
}

}  // namespace

Cost allreduce_naive(int world_size, std::int64_t elements, std::int64_t element_bytes) {
  return reduce_naive(world_size, elements, element_bytes) +
         broadcast_naive(world_size, elements, element_bytes);
}

Cost allreduce_tree(int world_size, std::int64_t elements, std::int64_t element_bytes) {
  return reduce_tree(world_size, elements, element_bytes) +
         broadcast_tree(world_size, elements, element_bytes);
}

Cost allreduce_butterfly(int world_size, std::int64_t elements, std::int64_t element_bytes) {
  const double bytes = static_cast<double>(elements * element_bytes);
  const double swaps = floor_log2(world_size);
  const double fold = is_power_of_two(world_size) ? 0 : 1;
  return Cost{fold + swaps, (fold + swaps) * bytes, (fold + swaps) * bytes} +
         unfold(world_size, bytes);
}

Cost allreduce_ring(int world_size, std::int64_t elements, std::int64_t element_bytes) {
  // The largest chunk is in flight in every step, and decides how long the step takes.
  const std::int64_t chunk = (elements + world_size - 1) / world_size;
  const double steps = world_size - 1;
  const double bytes = steps * static_cast<double>(chunk * element_bytes);
  return {2 * steps, 2 * bytes, bytes};
}

Cost allreduce_ring_segmented(int world_size, std::int64_t elements, std::int64_t element_bytes,
                              int segments) {
  const std::int64_t chunk = (elements + world_size - 1) / world_size;
  const std::int64_t segment = (chunk + segments - 1) / segments;
  Cost cost = allreduce_ring(world_size, segment * segments * world_size, element_bytes);
  cost.steps *= segments;
  return cost;
}

double allreduce_ring_segmented_seconds(int world_size, std::int64_t elements,
                                        std::int64_t element_bytes, int segments, const Link& link,
                                        double gamma) {
  const Cost cost = allreduce_ring_segmented(world_size, elements, element_bytes, segments);
  const double messages = cost.steps * link.alpha + cost.bytes * link.beta;
  const double additions = cost.reduced * gamma;
  // Additions take place in the first half, and overlap with as many messages.
  return messages + (segments == 1 ? additions : std::max(0.0, additions - messages / 2));
}

int best_ring_segments(int world_size, std::int64_t bytes, const Link& link, double gamma) {
  return static_cast<double>(bytes) * gamma > 2 * world_size * link.alpha ? 2 : 1;
}

Cost allreduce_double_tree(int world_size, std::int64_t elements, std::int64_t element_bytes,
                           int segments) {
  if (world_size == 1) return {};
  const std::int64_t half = (elements + 1) / 2;
  const std::int64_t segment = (half + segments - 1) / segments;
  const auto bytes = static_cast<double>(segment * element_bytes);
  const double depth = floor_log2(world_size);
  if (world_size == 2) return {2.0 * segments, 2 * segments * bytes, segments * bytes};
  // The last level of a power of two is one rank, a left child: turns of right ones are left out.
  const double missing = !is_power_of_two(world_size)       ? 0
                         : world_size == 4 && segments == 1 ? 2
                                                            : 3;
  const double levels = segments == 1 ? 4 * (depth - 1) : 6 * (depth - 1);
  const double steps = 4 * segments + levels - missing;
  const double added = (segments == 1 ? 2 * depth : 2 * segments + 3 * (depth - 1)) -
                       (is_power_of_two(world_size) ? 1 : 0);
  return {steps, steps * bytes, added * bytes};
}

double allreduce_double_tree_seconds(int world_size, std::int64_t elements,
                                     std::int64_t element_bytes, int segments, const Link& link,
                                     double gamma) {
  if (world_size == 1) return 0;
  const Cost cost = allreduce_double_tree(world_size, elements, element_bytes, segments);
  const double message = link.alpha + cost.bytes / cost.steps * link.beta;
  const double addition = cost.bytes / cost.steps * gamma;
  const double depth = floor_log2(world_size);
  double exposed = 0;  // additions
  if (segments == 1) {
    exposed = depth;
  } else if (world_size == 2) {
    exposed = segments;
  } else if (is_power_of_two(world_size)) {
    exposed = 2;
  }
  // Where additions take longer, they set the pace on the way up.
  const double slow = std::max(0.0, cost.reduced / cost.bytes * cost.steps - exposed);
  return cost.steps * message + exposed * addition + slow * std::max(0.0, addition - message);
}

int best_tree_segments(int world_size, std::int64_t bytes, const Link& link, double gamma) {
  const auto seconds = [&](int segments) {
    return allreduce_double_tree_seconds(world_size, bytes, 1, segments, link, gamma);
  };
  int best = 1;
  for (int segments = 2; segments <= 1024; segments *= 2) {
    if (seconds(segments) < seconds(best)) best = segments;
  }
  return best;
}

Cost allreduce_rabenseifner(int world_size, std::int64_t elements, std::int64_t element_bytes) {
  // Doubling takes both partners as long as gathering takes one.
  return reduce_scatter_gather(world_size, elements, element_bytes) +
         unfold(world_size, static_cast<double>(elements * element_bytes));
}

Cost allreduce_hierarchical(int world_size, std::int64_t elements, std::int64_t element_bytes,
                            int nodes) {
  const int local_ranks = world_size / nodes;
  const std::int64_t piece = (elements + local_ranks - 1) / local_ranks;
  return reduce_scatter_ring(local_ranks, piece * local_ranks, element_bytes) +
         allreduce_rabenseifner(nodes, piece, element_bytes) +
         allgather_ring(local_ranks, piece, element_bytes);
}

}  // namespace rankbox::cost
