#include "cli/compare/cluster_table.h"

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/support/lists.h"
#include "cli/support/terminal.h"
#include "sim/clusters/clusters.h"

namespace rankbox::cli {
namespace {

TableRow row_of(const std::string& label, const std::vector<std::string>& texts) {
  constexpr std::array kWidths = {12, 10, 12, 10, 10, 9};
  TableRow row = {fmt::format("{:<16}", label)};
  for (std::size_t i = 0; i < kWidths.size(); ++i)
    row.cells.push_back(fmt::format("{:>{}}", texts.at(i), kWidths.at(i)));
  return row;
}

std::string format_rate(double seconds_per_byte) {
  return fmt::format("{:.4g} GB/s", 1e-9 / seconds_per_byte);
}

}  // namespace

std::string format_clusters() {
  std::vector<TableRow> rows = {
      row_of("", {"within: α", "1/β", "between: α", "1/β", "1/γ", "per node"})};
  for (const Cluster& cluster : cluster_presets()) {
    rows.push_back(
        row_of(cluster.name,
               {format_seconds(cluster.within_node.alpha), format_rate(cluster.within_node.beta),
                format_seconds(cluster.between_nodes.alpha),
                format_rate(cluster.between_nodes.beta), format_rate(cluster.gamma),
                cluster.ranks_per_node == 0 ? "all" : std::to_string(cluster.ranks_per_node)}));
  }
  return table(rows);
}

}  // namespace rankbox::cli
