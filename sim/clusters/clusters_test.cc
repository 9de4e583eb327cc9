// Clusters by name, and clusters in files.
#include "sim/clusters/clusters.h"

#include <set>
#include <string>

#include <doctest/doctest.h>

#include "comm/errors.h"
#include "tests/support/run_tests.h"

namespace rankbox {
namespace {

TEST_CASE("every preset is found by its name, and names are unique") {
  std::set<std::string> names;
  for (const Cluster& preset : cluster_presets()) {
    if (!testing::wants_row(preset.name)) continue;
    CAPTURE(preset.name);
    CHECK(names.insert(preset.name).second);
    CHECK(cluster_named(preset.name).name == preset.name);
  }
  CHECK(names.size() >= 4);
}

TEST_CASE("the first preset is the default cluster") {
  const Cluster standard;
  const Cluster& first = cluster_presets().front();
  CHECK(first.name == standard.name);
  CHECK(first.within_node.alpha == standard.within_node.alpha);
  CHECK(first.within_node.beta == standard.within_node.beta);
  CHECK(first.between_nodes.alpha == standard.between_nodes.alpha);
  CHECK(first.between_nodes.beta == standard.between_nodes.beta);
  CHECK(first.gamma == standard.gamma);
}

TEST_CASE("every preset is plausible: costs above zero, between nodes not cheaper than inside") {
  for (const Cluster& preset : cluster_presets()) {
    if (!testing::wants_row(preset.name)) continue;
    CAPTURE(preset.name);
    CHECK(preset.within_node.alpha > 0);
    CHECK(preset.within_node.beta > 0);
    CHECK(preset.gamma > 0);
    CHECK(preset.between_nodes.alpha >= preset.within_node.alpha);
    CHECK(preset.between_nodes.beta >= preset.within_node.beta);
    CHECK(preset.ranks_per_node >= 0);
    CHECK(&preset.link(true) == &preset.within_node);
    CHECK(&preset.link(false) == &preset.between_nodes);
  }
}

TEST_CASE("no preset lets a message have more than the data sheet of its link") {
  struct Row {
    const char* name;
    double within, between;  // GB/s each way, of one rank
  };
  const Row rows[] = {
      {"h100-nvlink", 450, 450},     // NVLink 4: 18 links of 25 GB/s
      {"a100-infiniband", 300, 25},  // NVLink 3: 12 links of 25 GB/s; HDR: 200 Gbit/s
      {"h100-efa", 450, 50},         // 32 adapters of 100 Gbit/s for 8 GPUs
      {"h100-ib", 450, 50},          // NDR: 400 Gbit/s
      {"h200-ib", 450, 50},          // likewise
      {"b200-nvlink", 900, 900},     // NVLink 5: 18 links of 50 GB/s
      {"gb200-nvl72", 900, 900},     // likewise
      {"dgx-spark-2", 136.5, 25},    // half of LPDDR5X's 273 GB/s; 200 Gbit/s
      {"pcie-4090", 31.5, 31.5},     // PCIe 4 x16
      {"ethernet", 20, 1.25},        // memory of a workstation; 10 Gbit/s
      {"laptop", 20, 20},
      {"one-gpu", 4800 / 2.0, 4800 / 2.0},  // HBM3e of an H200; a copy reads and writes
  };
  CHECK(std::size(rows) == cluster_presets().size());
  for (const Row& row : rows) {
    CAPTURE(row.name);
    const Cluster cluster = cluster_named(row.name);
    CHECK(1e-9 / cluster.within_node.beta <= row.within);
    CHECK(1e-9 / cluster.between_nodes.beta <= row.between);
  }
}

TEST_CASE("an unknown name is refused with the existing names") {
  std::string message;
  try {
    cluster_named("abacus");
  } catch (const InvalidArgument& error) {
    message = error.what();
  }
  CAPTURE(message);
  CHECK(message.find("\"abacus\"") != std::string::npos);
  for (const Cluster& preset : cluster_presets()) {
    if (!testing::wants_row(preset.name)) continue;
    CHECK(message.find(preset.name) != std::string::npos);
  }
  CHECK(message.find('\n') == std::string::npos);
}

constexpr const char* kWithin = "[within_node]\nalpha_us = 2\nbandwidth_GB_s = 4\n";

std::string complaint_about(const std::string& toml) {
  try {
    parse_cluster(toml, "mine.toml");
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "none";
}

TEST_CASE("a file sets every field, in common units") {
  const Cluster cluster = parse_cluster(
      "name = \"mine\"\nranks_per_node = 2\nmax_nodes = 3\nreduction_GB_s = 8\ncall_us = 3\n" +
          std::string(kWithin) + "switch_GB_s = 16\n" +
          "[between_nodes]\nalpha_us = 10\nbandwidth_GB_s = 1\n"
          "[[native]]\ncollectives = [\"all_reduce\"]\nalpha_us = 1\nbandwidth_GB_s = 2\n"
          "[[native]]\ncollectives = [\"broadcast\", \"reduce\"]\nnodes = 2\ncall_us = 6\n"
          "alpha_us = 5\nbandwidth_GB_s = 20\n"
          "[[native]]\ncollectives = [\"scatter\"]\nmost_ranks = 4\nsteps = \"batches\"\n"
          "alpha_us = 5\nalpha_between_us = 7\nbandwidth_GB_s = 20\n",
      "mine.toml");
  CHECK(cluster.name == "mine");
  CHECK(cluster.ranks_per_node == 2);
  CHECK(cluster.gamma == doctest::Approx(1 / 8e9));
  CHECK(cluster.call == doctest::Approx(3e-6));
  CHECK(cluster.within_node.alpha == doctest::Approx((3 + 2) * 1e-6));
  CHECK(cluster.within_node.beta == doctest::Approx(1 / 4e9));
  CHECK(cluster.between_nodes.alpha == doctest::Approx((3 + 10) * 1e-6));
  CHECK(cluster.max_nodes == 3);
  CHECK(cluster.switch_beta == doctest::Approx(1 / 16e9));
  REQUIRE(cluster.native.size() == 4);
  CHECK(cluster.native[0].collective == CollectiveKind::kAllReduce);
  CHECK(cluster.native[0].nodes == 1);
  CHECK(cluster.native[0].call == doctest::Approx(3e-6));
  const NativeMode& reduce = cluster.native[2];
  CHECK(reduce.collective == CollectiveKind::kReduce);
  CHECK(reduce.nodes == 2);
  CHECK(reduce.call == doctest::Approx(6e-6));
  CHECK(reduce.link.alpha == doctest::Approx(5e-6));
  CHECK(reduce.link.beta == doctest::Approx(1 / 20e9));
  // Without more, all steps cost the same, an all-reduce counts rounds and all others a ring.
  CHECK(reduce.alpha_between == reduce.link.alpha);
  CHECK(cluster.native[0].steps == NativeSteps::kRounds);
  CHECK(reduce.steps == NativeSteps::kRing);
  CHECK(reduce.most_ranks == 0);
  const NativeMode& scatter = cluster.native[3];
  CHECK(scatter.steps == NativeSteps::kBatches);
  CHECK(scatter.alpha_between == doctest::Approx(7e-6));
  CHECK(scatter.most_ranks == 4);
}

TEST_CASE("what is left out has a default: one node, equal links, no modes") {
  const Cluster cluster =
      parse_cluster(std::string("name = \"mine\"\nreduction_GB_s = 8\n") + kWithin, "mine.toml");
  CHECK(cluster.ranks_per_node == 0);
  CHECK(cluster.max_nodes == 1);
  CHECK(cluster.call == 0);
  CHECK(cluster.within_node.alpha == doctest::Approx(2e-6));
  CHECK(cluster.between_nodes.alpha == cluster.within_node.alpha);
  CHECK(cluster.switch_beta == 0);
  CHECK(cluster.native.empty());
}

TEST_CASE("a mistake in a file is one line that names the file and the field") {
  const std::string head = "name = \"mine\"\nreduction_GB_s = 8\n";
  const std::pair<std::string, const char*> mistakes[] = {
      {"name = ", "1"},
      {kWithin, "name"},
      {head, "[within_node]"},
      {std::string("name = \"mine\"\n") + kWithin, "reduction_GB_s"},
      {head + "[within_node]\nalpha_us = 2\n", "bandwidth_GB_s in [within_node]"},
      {head + "[within_node]\nalpha_us = -2\nbandwidth_GB_s = 1\n", "alpha_us"},
      {head + "[within_node]\nalpha_us = \"two\"\nbandwidth_GB_s = 1\n", "alpha_us"},
      {head + "latency = 3\n" + kWithin, "\"latency\""},
      {head + "[within_node]\nalpha_us = inf\nbandwidth_GB_s = 1\n", "alpha_us"},
      {head + "[within_node]\nalpha_us = 2\nbandwidth_GB_s = nan\n", "bandwidth_GB_s"},
      {std::string("name = \"mine\"\nreduction_GB_s = inf\n") + kWithin, "reduction_GB_s"},
      {head + "ranks_per_node = -1\n" + kWithin, "ranks_per_node = -1"},
      {head + "ranks_per_node = 2.5\n" + kWithin, "ranks_per_node = 2.5"},
      {head + "ranks_per_node = inf\n" + kWithin, "ranks_per_node = inf"},
      {head + "ranks_per_node = \"4\"\n" + kWithin, "ranks_per_node"},
      {head + "call_us = 0\n" + kWithin, "call_us should be"},
      {head + "max_nodes = -1\n" + kWithin, "max_nodes = -1"},
      {head + kWithin + "ports = 2\n", "port_GB_s in [within_node]"},
      {head + kWithin + "ports = 2\nport_GB_s = 1.9\n", "ports * port_GB_s is 3.8"},
      {head + kWithin + "[native]\nalpha_us = 1\n", "[[native]]"},
      {head + kWithin + "[[native]]\nalpha_us = 1\nbandwidth_GB_s = 1\n", "collectives"},
      {head + kWithin +
           "[[native]]\ncollectives = [\"gossip\"]\nalpha_us = 1\nbandwidth_GB_s = 1\n",
       "\"gossip\""},
      {head + kWithin +
           "[[native]]\ncollectives = [\"gather\"]\nnodes = 0\nalpha_us = 1\n"
           "bandwidth_GB_s = 1\n",
       "nodes in [[native]]"},
      {head + kWithin +
           "[[native]]\ncollectives = [\"gather\"]\nsteps = \"leaps\"\nalpha_us = 1\n"
           "bandwidth_GB_s = 1\n",
       "steps in [[native]] is \"leaps\""},
      {head + kWithin + "[between_nodes]\nalpha_us = 1\nbandwidth_GB_s = 1\nswitch_GB_s = 1\n",
       "\"switch_GB_s\" in [between_nodes]"},
      {head + kWithin + "switch_GB_s = 0\n", "switch_GB_s in [within_node]"},
  };
  for (const auto& [toml, part] : mistakes) {
    const std::string message = complaint_about(toml);
    INFO(toml, "\n", message);
    CHECK(message.find("mine.toml: ") == 0);
    CHECK(message.find(part) != std::string::npos);
    CHECK(message.find('\n') == std::string::npos);
  }
}

TEST_CASE("a path is read, and an unreadable one is refused by its name") {
  std::string message;
  try {
    cluster_named("no/such.toml");
  } catch (const InvalidArgument& error) {
    message = error.what();
  }
  CHECK(message.find("no/such.toml") != std::string::npos);
}

}  // namespace
}  // namespace rankbox
