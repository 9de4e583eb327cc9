#include "cli/perf/virtual_time.h"

#include <iterator>
#include <string_view>

#include "cli/compare/algorithms.h"
#include "collectives/cost.h"
#include "collectives/cost_gather.h"
#include "collectives/cost_ranks.h"
#include "collectives/native_cost.h"

namespace rankbox::perf {
namespace {

using enum CollectiveKind;

using ClosedForm = Cost (*)(int world_size, std::int64_t elements, std::int64_t element_bytes);

struct Entry {
  CollectiveKind collective;
  std::string_view algorithm;
  ClosedForm cost;
};

// Those that need to know more stand in virtual_seconds().
constexpr Entry kEntries[] = {
    {kBarrier, "dissemination", cost::barrier_dissemination},
    {kBroadcast, "naive", cost::broadcast_naive},
    {kBroadcast, "tree", cost::broadcast_tree},
    {kBroadcast, "ring", cost::broadcast_ring},
    {kBroadcast, "scatter_allgather", cost::broadcast_scatter_allgather},
    {kReduce, "naive", cost::reduce_naive},
    {kReduce, "tree", cost::reduce_tree},
    {kReduce, "scatter_gather", cost::reduce_scatter_gather},
    {kAllReduce, "naive", cost::allreduce_naive},
    {kAllReduce, "tree", cost::allreduce_tree},
    {kAllReduce, "butterfly", cost::allreduce_butterfly},
    {kAllReduce, "ring", cost::allreduce_ring},
    {kAllReduce, "rabenseifner", cost::allreduce_rabenseifner},
    {kGather, "naive", cost::gather_naive},
    {kGather, "tree", cost::gather_tree},
    {kScatter, "tree", cost::scatter_tree},
    {kAllGather, "naive", cost::allgather_naive},
    {kAllGather, "tree", cost::allgather_tree},
    {kAllGather, "ring", cost::allgather_ring},
    {kAllGather, "bruck", cost::allgather_bruck},
    {kReduceScatter, "ring", cost::reduce_scatter_ring},
    {kAllToAll, "pairwise", cost::alltoall_pairwise},
};

constexpr std::int64_t kElementBytes = size_of(Tensor::dtype());

/// What the forms of gathering and dealing call the size: one rank's piece.
std::int64_t argument_of(const Row& row) {
  const bool by_piece =
      row.collective == kGather || row.collective == kScatter || row.collective == kAllGather;
  return by_piece ? row.elements / row.world_size : row.elements;
}

double price(const Cost& cost, const Link& link, double gamma) {
  return cost.steps * link.alpha + cost.bytes * link.beta + cost.reduced * gamma;
}

/// The closed form of cost.h, phase by phase: each goes over links of its own.
double hierarchical_seconds(const Row& row, const Cluster& cluster) {
  const int nodes = cluster.nodes_for(row.world_size);
  const int largest_node = (row.world_size + nodes - 1) / nodes;
  const auto within = [&](const Cost& cost) {
    return price(cost, cluster.within_node, cluster.gamma);
  };
  const Cost between = cost::allreduce_rabenseifner(nodes, row.elements, kElementBytes);
  return 2 * cost::native_seconds(kSplit, row.world_size, 0, cluster) +
         within(cost::reduce_tree(largest_node, row.elements, kElementBytes)) +
         price(between, cluster.between_nodes, cluster.gamma) +
         within(cost::broadcast_tree(largest_node, row.elements, kElementBytes));
}

}  // namespace

std::optional<double> virtual_seconds(const Row& row, int segments, const Cluster& cluster) {
  const std::int64_t elements = argument_of(row);
  if (row.algorithm == "native") {
    const auto bytes = static_cast<double>(elements * kElementBytes);
    return cost::native_seconds(row.collective, row.world_size, bytes, cluster);
  }
  if (row.collective == kAllReduce && row.algorithm == "hierarchical") {
    return hierarchical_seconds(row, cluster);
  }
  const Link& link = cluster.link(cluster.nodes_for(row.world_size) == 1);
  if (row.collective == kBroadcast && row.algorithm == "ring_pipelined") {
    return price(cost::broadcast_ring_pipelined(row.world_size, elements, kElementBytes, segments),
                 link, cluster.gamma);
  }
  for (const Entry& entry : kEntries) {
    if (entry.collective == row.collective && entry.algorithm == row.algorithm) {
      return price(entry.cost(row.world_size, elements, kElementBytes), link, cluster.gamma);
    }
  }
  return std::nullopt;
}

}  // namespace rankbox::perf
