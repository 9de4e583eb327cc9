#include "comm/option_checks.h"

#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "comm/errors.h"

namespace rankbox {
namespace {

/// Negative, infinite and NaN costs would stop clocks, or turn them back.
void check(const Cluster& cluster) {
  const std::pair<const char*, double> prices[] = {
      {"alpha within a node", cluster.within_node.alpha},
      {"beta within a node", cluster.within_node.beta},
      {"alpha between nodes", cluster.between_nodes.alpha},
      {"beta between nodes", cluster.between_nodes.beta},
      {"gamma", cluster.gamma}};
  for (const auto& [name, price] : prices) {
    if (!(price >= 0) || std::isinf(price)) {
      throw InvalidArgument(
          fmt::format("the cluster's {} is {}: seconds, 0 or more, are needed", name, price));
    }
  }
}

}  // namespace

void check_cluster_fits(const Cluster& cluster, int world_size, int nodes) {
  if (cluster.max_nodes == 0) return;
  const bool has_limit = cluster.ranks_per_node > 0;
  const int most = has_limit ? cluster.max_nodes * cluster.ranks_per_node : world_size;
  if (nodes <= cluster.max_nodes && world_size <= most) return;
  throw InvalidArgument(
      fmt::format("{} ranks on {} node{} do not fit on {}, which has {} node{}{}: choose {} or "
                  "another cluster{}",
                  world_size, nodes, nodes == 1 ? "" : "s", cluster.name, cluster.max_nodes,
                  cluster.max_nodes == 1 ? "" : "s",
                  has_limit ? fmt::format(" of {} ranks", cluster.ranks_per_node) : "",
                  world_size <= most ? "fewer nodes" : "fewer ranks",
                  cluster.max_nodes == 1 ? "; a .toml file needs [between_nodes] for more" : ""));
}

void check_run_options(const RunOptions& options) {
  if (options.world_size < 1) {
    throw InvalidArgument(
        fmt::format("world size {} is impossible: at least 1 rank is needed", options.world_size));
  }
  if (options.nodes < 1 || options.nodes > options.world_size) {
    throw InvalidArgument(fmt::format("{} nodes cannot share {} ranks: 1 to {} nodes are possible",
                                      options.nodes, options.world_size, options.world_size));
  }
  for (const double seconds : {options.deadline_seconds, options.start_seconds}) {
    if (seconds > 0) continue;
    throw InvalidArgument(
        fmt::format("a deadline of {} s is impossible: more than 0 are needed", seconds));
  }
  if (options.order == MessageOrder::kStream && (!options.trace || options.events_per_rank >= 0)) {
    throw InvalidArgument(
        "the order of a stream is judged by the whole trace: leave RunOptions::trace on, and "
        "events_per_rank at -1");
  }
  check(options.cluster);
  check_cluster_fits(options.cluster, options.world_size, options.nodes);
}

void refuse_sandbox_options(const RunOptions& options) {
  if (options.order != MessageOrder::kAny) {
    throw InvalidArgument(
        "the order of messages (RunOptions::order) can be set only in the sandbox: leave it out");
  }
  if (!options.without_data) return;
  throw InvalidArgument(
      "tensors without data (RunOptions::without_data) exist only in the sandbox: leave it out");
}

}  // namespace rankbox
