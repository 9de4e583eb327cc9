// The cluster that `rankbox fit` writes is read without a change, and priced as the fit priced it.
#include <cstdlib>
#include <fstream>
#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "sim/clock/native_cost.h"
#include "sim/clusters/clusters.h"

namespace rankbox {
namespace {

nlohmann::json report() {
  std::ifstream file(std::getenv("FITTED_JSON"));
  return nlohmann::json::parse(file);
}

Cluster fitted() { return cluster_named(std::string("./") + std::getenv("FITTED_TOML")); }

CollectiveKind kind_named(const std::string& name) {
  for (int i = 0; i <= static_cast<int>(CollectiveKind::kSplit); ++i) {
    // Those of unequal pieces have the modes of equal ones.
    const CollectiveKind kind = with_equal_pieces(static_cast<CollectiveKind>(i));
    if (name == name_of(kind)) return kind;
  }
  FAIL("no collective is named " << name);
  return CollectiveKind::kSplit;
}

TEST_CASE("every field has the fit's number") {
  const Cluster cluster = fitted();
  const nlohmann::json expected = report().at("cluster");
  const double call = expected.at("call_us");
  CHECK(cluster.name == "fitted");
  CHECK(cluster.ranks_per_node == 8);
  CHECK(cluster.max_nodes == 0);
  CHECK(cluster.gamma == doctest::Approx(1e-9 / expected.at("reduction_GB_s").get<double>()));
  for (const auto& [link, name] : {std::pair(cluster.within_node, "within_node"),
                                   std::pair(cluster.between_nodes, "between_nodes")}) {
    CAPTURE(name);
    const nlohmann::json& fields = expected.at(name);
    CHECK(1e6 * link.alpha == doctest::Approx(call + fields.at("alpha_us").get<double>()));
    CHECK(1e-9 / link.beta == doctest::Approx(fields.at("bandwidth_GB_s").get<double>()));
  }
  CHECK(cluster.between_nodes.alpha >= cluster.within_node.alpha);
  CHECK(cluster.between_nodes.beta >= cluster.within_node.beta);
}

TEST_CASE("native calls take what the fit printed") {
  const Cluster cluster = fitted();
  const nlohmann::json tables = report().at("tables");
  int rows = 0;
  for (const nlohmann::json& table : tables) {
    const std::string name = table.at("collective");
    const int ranks = table.at("ranks");
    const int nodes = table.at("nodes");
    for (const nlohmann::json& row : table.at("rows")) {
      double bytes = row.at("bytes");
      if (name == "all_gather") bytes /= ranks;  // one rank's part
      CAPTURE(name);
      CAPTURE(nodes);
      CAPTURE(bytes);
      const double seconds = cost::native_seconds({kind_named(name), ranks, nodes, bytes}, cluster);
      CHECK(1e6 * seconds == doctest::Approx(row.at("fitted_us").get<double>()).epsilon(1e-6));
      CHECK(1e6 * seconds == doctest::Approx(row.at("us").get<double>()).epsilon(0.15));
      ++rows;
    }
  }
  CHECK(rows > 20);
}

TEST_CASE("all collectives that move data have modes on one node and on several") {
  const Cluster cluster = fitted();
  for (int i = 0; i <= static_cast<int>(CollectiveKind::kSplit); ++i) {
    // Those of unequal pieces have the modes of equal ones.
    const CollectiveKind kind = with_equal_pieces(static_cast<CollectiveKind>(i));
    if (!moves_data(kind)) continue;
    for (const int nodes : {1, 2}) {
      int modes = 0;
      for (const NativeMode& mode : cluster.native) {
        modes += static_cast<int>(mode.collective == kind && mode.nodes == nodes);
      }
      CAPTURE(name_of(kind));
      CAPTURE(nodes);
      CHECK(modes > 0);
    }
  }
}

}  // namespace
}  // namespace rankbox
