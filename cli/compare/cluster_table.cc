#include "cli/compare/cluster_table.h"

#include <fmt/format.h>

#include "cli/support/lists.h"
#include "clusters/clusters.h"

namespace rankbox::cli {
namespace {

constexpr const char* kLine = "{:<16} {:>12} {:>10} {:>12} {:>10} {:>10} {:>9}\n";

std::string format_rate(double seconds_per_byte) {
  return fmt::format("{:.4g} GB/s", 1e-9 / seconds_per_byte);
}

}  // namespace

std::string format_clusters() {
  std::string table = fmt::format(fmt::runtime(kLine), "", "within: α", "1/β", "between: α", "1/β",
                                  "1/γ", "per node");
  for (const Cluster& cluster : cluster_presets()) {
    table += fmt::format(
        fmt::runtime(kLine), cluster.name, format_seconds(cluster.within_node.alpha),
        format_rate(cluster.within_node.beta), format_seconds(cluster.between_nodes.alpha),
        format_rate(cluster.between_nodes.beta), format_rate(cluster.gamma),
        cluster.ranks_per_node == 0 ? "all" : std::to_string(cluster.ranks_per_node));
  }
  return table;
}

}  // namespace rankbox::cli
