#include "replay/native_cost.h"

#include <algorithm>
#include <bit>
#include <initializer_list>
#include <limits>

namespace rankbox::cost {
namespace {

/// Returns the cheapest of several algorithms.
Cost cheapest(const Link& link, double gamma, std::initializer_list<Cost> costs) {
  const auto price = [&](const Cost& c) {
    return c.steps * link.alpha + c.bytes * link.beta + c.reduced * gamma;
  };
  const Cost* best = costs.begin();
  for (const Cost& cost : costs) {
    if (price(cost) < price(*best)) best = &cost;
  }
  return *best;
}

}  // namespace

// Closed forms for n bytes on p ranks. Halving and doubling need a power of two. For any other p,
// one rank of each surplus pair sends its data first (fold), and receives the result last (unfold).
Cost native_cost(CollectiveKind kind, int world_size, double bytes, const Link& link,
                 double gamma) {
  if (world_size == 1) return {};
  const double p = world_size;
  const double n = bytes;
  const double share = (p - 1) / p;
  const double rounds = std::bit_width(static_cast<unsigned>(world_size - 1));    // ceil(log2 p)
  const double halvings = std::bit_width(static_cast<unsigned>(world_size)) - 1;  // floor(log2 p)
  const double fold = std::has_single_bit(static_cast<unsigned>(world_size)) ? 0 : 1;
  const double power = static_cast<double>(std::bit_floor(static_cast<unsigned>(world_size)));
  const double halved = (power - 1) / power;
  switch (kind) {
    case CollectiveKind::kBarrier:  // dissemination
    case CollectiveKind::kSplit:
      return {rounds, 0, 0};
    case CollectiveKind::kBroadcast:  // tree; scatter and all-gather
      return cheapest(link, gamma, {{rounds, rounds * n, 0}, {rounds + p - 1, 2 * share * n, 0}});
    case CollectiveKind::kReduce:  // tree; halving and gather; ring and gather
      return cheapest(link, gamma,
                      {{rounds, rounds * n, rounds * n},
                       {2 * halvings + fold, (2 * halved + fold) * n, (halved + fold) * n},
                       {p - 1 + rounds, 2 * share * n, share * n}});
    case CollectiveKind::kAllReduce:  // butterfly; Rabenseifner; ring
      return cheapest(link, gamma,
                      {{halvings + 2 * fold, (halvings + 2 * fold) * n, (halvings + fold) * n},
                       {2 * (halvings + fold), 2 * (halved + fold) * n, (halved + fold) * n},
                       {2 * (p - 1), 2 * share * n, share * n}});
    case CollectiveKind::kGather:  // tree; Bruck
    case CollectiveKind::kScatter:
    case CollectiveKind::kAllGather:
      return {rounds, (p - 1) * n, 0};    // n per rank, so p*n in all
    case CollectiveKind::kReduceScatter:  // halving; ring
      return cheapest(
          link, gamma,
          {{halvings + 2 * fold, (halved + fold * (1 + 1 / p)) * n, (halved + fold) * n},
           {p - 1, share * n, share * n}});
    case CollectiveKind::kAllToAll:  // pairwise; Bruck
      return cheapest(link, gamma, {{p - 1, share * n, 0}, {rounds, rounds * n / 2, 0}});
  }
  return {};
}

Cost native_wire(CollectiveKind kind, int world_size, double bytes) {
  if (world_size == 1) return {};
  const double p = world_size;
  const double share = (p - 1) / p;
  const double rounds = std::bit_width(static_cast<unsigned>(world_size - 1));
  switch (kind) {
    case CollectiveKind::kBarrier:
    case CollectiveKind::kSplit:
      return {rounds, 0, 0};
    case CollectiveKind::kBroadcast:
    case CollectiveKind::kReduce:
      return {rounds, bytes, 0};
    case CollectiveKind::kAllReduce:
      return {rounds, 2 * share * bytes, 0};
    case CollectiveKind::kGather:  // bytes is one rank's part
    case CollectiveKind::kScatter:
    case CollectiveKind::kAllGather:
      return {rounds, (p - 1) * bytes, 0};
    case CollectiveKind::kReduceScatter:
    case CollectiveKind::kAllToAll:
      return {rounds, share * bytes, 0};
  }
  return {};
}

double native_seconds(CollectiveKind kind, int world_size, double bytes, const Cluster& cluster) {
  if (cluster.native.empty()) {
    const Link& link = cluster.link(cluster.nodes_for(world_size) == 1);
    const Cost cost = native_cost(kind, world_size, bytes, link, cluster.gamma);
    return cost.steps * link.alpha + cost.bytes * link.beta + cost.reduced * cluster.gamma;
  }
  const Cost wire = native_wire(kind, world_size, bytes);
  double least = std::numeric_limits<double>::infinity();
  for (const Link& mode : cluster.native) {
    least = std::min(least, wire.steps * mode.alpha + wire.bytes * mode.beta);
  }
  return least;
}

}  // namespace rankbox::cost
