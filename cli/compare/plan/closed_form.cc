#include "cli/compare/plan/closed_form.h"

#include "cli/compare/plan/algorithms.h"
#include "collectives/cost.h"
#include "collectives/cost_forms.h"
#include "collectives/cost_gather.h"
#include "exercises/registry.h"
#include "sim/clock/native_cost.h"

namespace rankbox::cli {
namespace {

using enum CollectiveKind;

constexpr std::int64_t kElementBytes = size_of(Tensor::dtype());

/// Returns the size that the closed forms take; for gather, scatter and all_gather, one rank's
/// piece.
std::int64_t argument_of(const Row& row) {
  const bool by_piece =
      row.collective == kGather || row.collective == kScatter || row.collective == kAllGather;
  return by_piece ? row.elements / row.world_size : row.elements;
}

double price(const Cost& cost, const Link& link, double gamma) {
  return cost.steps * link.alpha + cost.bytes * link.beta + cost.reduced * gamma;
}

/// Evaluates the closed form of cost.h, phase by phase, each over its own links.
double hierarchical_seconds(const Row& row, const Cluster& cluster) {
  const int nodes = cluster.nodes_for(row.world_size);
  const int local_ranks = row.world_size / nodes;
  const std::int64_t piece = (row.elements + local_ranks - 1) / local_ranks;
  const auto within = [&](const Cost& cost) {
    return price(cost, cluster.within_node, cluster.gamma);
  };
  return within(cost::reduce_scatter_ring(local_ranks, piece * local_ranks, kElementBytes)) +
         price(cost::allreduce_rabenseifner(nodes, piece, kElementBytes), cluster.between_nodes,
               cluster.gamma) +
         within(cost::allgather_ring(local_ranks, piece, kElementBytes));
}

/// Returns the registry entry of the row's algorithm; null if it has none.
const Exercise* exercise_of(const Row& row) {
  for (const Exercise& exercise : exercises()) {
    const auto algorithm = collective_and_name_of(exercise.name);
    if (algorithm && algorithm->first == row.collective && algorithm->second == row.algorithm) {
      return &exercise;
    }
  }
  return nullptr;
}

}  // namespace

void set_closed_form(Row& row, int segments, const Cluster& cluster) {
  const std::int64_t elements = argument_of(row);
  if (row.whose == Whose::kNative) {
    const auto bytes = static_cast<double>(elements * kElementBytes);
    row.virtual_seconds = cost::native_seconds(
        {row.collective, row.world_size, cluster.nodes_for(row.world_size), bytes}, cluster);
    return;
  }
  const Exercise* const exercise = exercise_of(row);
  if (exercise == nullptr) return;
  const int nodes = cluster.nodes_for(row.world_size);
  if (const auto form = cost::find_form<cost::Form>(exercise->cost)) {
    row.cost = form(row.world_size, elements, kElementBytes);
  } else if (const auto of_parts = cost::find_form<cost::FormOfParts>(exercise->cost)) {
    const bool is_hierarchical = exercise->family == "hierarchical_allreduce";
    if (is_hierarchical && row.world_size % nodes != 0) return;  // no grid, no form
    row.cost =
        of_parts(row.world_size, elements, kElementBytes, is_hierarchical ? nodes : segments);
    if (is_hierarchical) {
      row.virtual_seconds = hierarchical_seconds(row, cluster);
      return;
    }
    if (exercise->family == "double_tree") {
      row.virtual_seconds =
          cost::allreduce_double_tree_seconds(row.world_size, elements, kElementBytes, segments,
                                              cluster.link(nodes == 1), cluster.gamma);
      return;
    }
    if (exercise->family == "segmented_allreduce") {
      row.virtual_seconds =
          cost::allreduce_ring_segmented_seconds(row.world_size, elements, kElementBytes, segments,
                                                 cluster.link(nodes == 1), cluster.gamma);
      return;
    }
  }
  if (row.cost) row.virtual_seconds = price(*row.cost, cluster.link(nodes == 1), cluster.gamma);
}

}  // namespace rankbox::cli
