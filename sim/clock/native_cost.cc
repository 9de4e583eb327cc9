#include "sim/clock/native_cost.h"

#include <algorithm>
#include <bit>
#include <cmath>
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

/// Returns ceil(log2 p).
double rounds_of(int p) { return std::bit_width(static_cast<unsigned>(p - 1)); }

/// Returns the cost of a pipelined ring with the best number of segments.
/// @param gamma seconds per byte that each rank adds before it passes a segment on; 0: it does not
Cost pipelined_ring(double p, double n, const Link& link, double gamma) {
  // Without latency, infinitely many would be best. More than these gain nothing.
  const double most = std::clamp(n, 1.0, 0x1p20);
  const double best = std::sqrt((p - 2) * n * (link.beta + gamma) / link.alpha);
  const double segments = best >= 1 ? std::round(std::min(best, most)) : 1;
  return {p + segments - 2, (p + segments - 2) * n / segments, 0};
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
  const double rounds = rounds_of(world_size);
  const double halvings = std::bit_width(static_cast<unsigned>(world_size)) - 1;  // floor(log2 p)
  const double fold = std::has_single_bit(static_cast<unsigned>(world_size)) ? 0 : 1;
  const double power = static_cast<double>(std::bit_floor(static_cast<unsigned>(world_size)));
  const double halved = (power - 1) / power;
  switch (kind) {
    case CollectiveKind::kBarrier:  // dissemination
    case CollectiveKind::kSplit:
      return {rounds, 0, 0};
    case CollectiveKind::kBroadcast:  // tree; scatter and all-gather; pipelined ring
      return cheapest(link, gamma,
                      {{rounds, rounds * n, 0},
                       {rounds + p - 1, 2 * share * n, 0},
                       pipelined_ring(p, n, link, 0)});
    case CollectiveKind::kReduce: {  // tree; halving and gather; ring and gather; pipelined ring
      Cost pipelined = pipelined_ring(p, n, link, gamma);
      pipelined.reduced = pipelined.bytes;
      return cheapest(link, gamma,
                      {{rounds, rounds * n, rounds * n},
                       {2 * halvings + fold, (2 * halved + fold) * n, (halved + fold) * n},
                       {p - 1 + rounds, 2 * share * n, share * n},
                       pipelined});
    }
    case CollectiveKind::kAllReduce:  // butterfly; Rabenseifner; ring
      return cheapest(link, gamma,
                      {{halvings + 2 * fold, (halvings + 2 * fold) * n, (halvings + fold) * n},
                       {2 * (halvings + fold), 2 * (halved + fold) * n, (halved + fold) * n},
                       {2 * (p - 1), 2 * share * n, share * n}});
    case CollectiveKind::kGather:  // tree; Bruck
    case CollectiveKind::kGatherV:
    case CollectiveKind::kScatter:
    case CollectiveKind::kScatterV:
    case CollectiveKind::kAllGather:
    case CollectiveKind::kAllGatherV:
      return {rounds, (p - 1) * n, 0};    // n per rank, so p*n in all
    case CollectiveKind::kReduceScatter:  // halving; ring
      return cheapest(
          link, gamma,
          {{halvings + 2 * fold, (halved + fold * (1 + 1 / p)) * n, (halved + fold) * n},
           {p - 1, share * n, share * n}});
    case CollectiveKind::kAllToAll:  // pairwise; Bruck
    case CollectiveKind::kAllToAllV:
      return cheapest(link, gamma, {{p - 1, share * n, 0}, {rounds, rounds * n / 2, 0}});
  }
  return {};
}

NativeWire native_wire(const NativeCall& call, NativeSteps steps) {
  NativeWire wire;
  if (call.world_size == 1) return wire;
  const double p = call.world_size;
  const double n = call.bytes;
  const double share = (p - 1) / p;
  const int per_node = (call.world_size + call.nodes - 1) / call.nodes;
  switch (steps) {
    case NativeSteps::kRounds:
      wire.steps_within = rounds_of(per_node);
      wire.steps_between = rounds_of(call.nodes);
      break;
    case NativeSteps::kPat:
      wire.steps_within = p;
      wire.steps_between = rounds_of(call.nodes);
      break;
    case NativeSteps::kRing:
      wire.steps_between = call.nodes - 1;
      wire.steps_within = p - call.nodes;
      if (call.kind == CollectiveKind::kAllReduce) {
        wire.steps_between *= 2;
        wire.steps_within *= 2;
      }
      break;
    case NativeSteps::kBatches:
      wire.steps_between = std::ceil((p - per_node) / kMessagesInFlight);
      wire.steps_within = std::ceil((per_node - 1.0) / kMessagesInFlight);
      break;
  }
  switch (call.kind) {
    case CollectiveKind::kBarrier:
    case CollectiveKind::kSplit:
      break;
    case CollectiveKind::kAllReduce:
      wire.bytes = 2 * share * n;
      break;
    case CollectiveKind::kBroadcast:
    case CollectiveKind::kReduce:
      wire.bytes = n;
      break;
    case CollectiveKind::kGather:  // n is one rank's part
    case CollectiveKind::kGatherV:
    case CollectiveKind::kScatter:
    case CollectiveKind::kScatterV:
    case CollectiveKind::kAllGather:
    case CollectiveKind::kAllGatherV:
      wire.bytes = (p - 1) * n;
      break;
    case CollectiveKind::kReduceScatter:
    case CollectiveKind::kAllToAll:
    case CollectiveKind::kAllToAllV:
      wire.bytes = share * n;
      break;
  }
  return wire;
}

double bytes_between_nodes(const NativeCall& call) {
  if (call.nodes == 1) return 0;
  const double p = call.world_size;
  const double ranks = p / call.nodes;  // of a node
  switch (call.kind) {
    case CollectiveKind::kBarrier:
    case CollectiveKind::kSplit:
      return 0;
    case CollectiveKind::kAllReduce:
      if (call.nodes == 2) return call.bytes / ranks;  // trees: half of the sums each way
      [[fallthrough]];
    case CollectiveKind::kBroadcast:
    case CollectiveKind::kReduce:
    case CollectiveKind::kAllGather:
    case CollectiveKind::kAllGatherV:
    case CollectiveKind::kReduceScatter:
      return native_wire(call, NativeSteps::kRing).bytes / ranks;
    case CollectiveKind::kAllToAll:
    case CollectiveKind::kAllToAllV:
      return (p - ranks) / p * call.bytes;
    case CollectiveKind::kGather:
    case CollectiveKind::kGatherV:
    case CollectiveKind::kScatter:
    case CollectiveKind::kScatterV:
      return (p - ranks) * call.bytes;
  }
  return 0;
}

double all_reduce_seconds_within(const NativeCall& call, const Cluster& cluster) {
  const double per_node = std::ceil(static_cast<double>(call.world_size) / call.nodes);
  if (call.kind != CollectiveKind::kAllReduce || per_node == 1) return 0;
  const double p = call.world_size;
  const double ring = 2 * (p - 1) / p * call.bytes * cluster.within_node.beta;
  if (cluster.switch_beta == 0) return ring;
  return std::min(ring, (per_node + 1) / per_node * call.bytes * cluster.switch_beta);
}

namespace {

/// Returns the seconds of native_cost.
double best_on_link(CollectiveKind kind, int world_size, double bytes, const Link& link,
                    double gamma) {
  const Cost cost = native_cost(kind, world_size, bytes, link, gamma);
  return cost.steps * link.alpha + cost.bytes * link.beta + cost.reduced * gamma;
}

/// Returns the seconds of the same collective in two levels: inside the nodes, and between ranks of
/// the same place in their node, all of which use their own link. It assumes as many ranks on every
/// node. Infinite where that is impossible, or there is no such form.
double two_levels(const NativeCall& call, const Cluster& cluster) {
  using enum CollectiveKind;
  const int m = call.world_size / call.nodes;  // of a node
  if (call.nodes == 1 || m == 1 || call.world_size % call.nodes != 0)
    return std::numeric_limits<double>::infinity();
  const double n = call.bytes;
  const auto inside = [&](CollectiveKind kind, double bytes) {
    return best_on_link(kind, m, bytes, cluster.within_node, cluster.gamma);
  };
  const auto between = [&](CollectiveKind kind, double bytes) {
    return best_on_link(kind, call.nodes, bytes, cluster.between_nodes, cluster.gamma);
  };
  switch (call.kind) {
    case kBarrier:
    case kSplit:
      break;
    case kAllReduce:  // the sum of each part by one rank of a node, or of everything by one
      return std::min(
          inside(kReduceScatter, n) + between(kAllReduce, n / m) + inside(kAllGather, n / m),
          inside(kReduce, n) + between(kAllReduce, n) + inside(kBroadcast, n));
    case kBroadcast:  // each part by one rank of a node, or everything by one
      return std::min(
          inside(kScatter, n / m) + between(kBroadcast, n / m) + inside(kAllGather, n / m),
          between(kBroadcast, n) + inside(kBroadcast, n));
    case kReduce:
      return std::min(inside(kReduceScatter, n) + between(kReduce, n / m) + inside(kGather, n / m),
                      inside(kReduce, n) + between(kReduce, n));
    case kAllGather:
    case kAllGatherV:
      return between(kAllGather, n) + inside(kAllGather, n * call.nodes);
    case kReduceScatter:
      return inside(kReduceScatter, n) + between(kReduceScatter, n / m);
    case kAllToAll:
    case kAllToAllV:
      return inside(kAllToAll, n) + between(kAllToAll, n);
    case kGather:
    case kGatherV:
    case kScatter:  // its root passes everything by itself
    case kScatterV:
      return between(call.kind, n * m) + inside(call.kind, n);
  }
  return std::numeric_limits<double>::infinity();
}

}  // namespace

double native_seconds(const NativeCall& call, const Cluster& cluster) {
  if (call.world_size == 1) return 0;
  // NCCL's barrier is an all-reduce; what a split exchanges is as short.
  const CollectiveKind kind =
      moves_data(call.kind) ? with_equal_pieces(call.kind) : CollectiveKind::kAllReduce;
  int nodes = 0;  // of the modes for this call; 0: there are none
  for (const NativeMode& mode : cluster.native) {
    if (mode.collective == kind && mode.nodes <= call.nodes) nodes = std::max(nodes, mode.nodes);
  }
  if (nodes == 0) {
    const double flat = best_on_link(call.kind, call.world_size, call.bytes,
                                     cluster.link(call.nodes == 1), cluster.gamma);
    return std::min(flat, two_levels(call, cluster));
  }
  const double least_of_links = std::max(all_reduce_seconds_within(call, cluster),
                                         bytes_between_nodes(call) * cluster.between_nodes.beta);
  double least = std::numeric_limits<double>::infinity();
  for (const NativeMode& mode : cluster.native) {
    if (mode.collective != kind || mode.nodes != nodes) continue;
    if (mode.steps == NativeSteps::kPat && call.world_size != call.nodes) continue;
    if (mode.most_ranks != 0 && call.world_size > mode.most_ranks) continue;
    const NativeWire wire = native_wire(call, mode.steps);
    least = std::min(least, mode.call + wire.steps_within * mode.link.alpha +
                                wire.steps_between * mode.alpha_between +
                                std::max(wire.bytes * mode.link.beta, least_of_links));
  }
  return least;
}

}  // namespace rankbox::cost
