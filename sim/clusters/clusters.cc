#include "sim/clusters/clusters.h"

#include <cmath>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include "comm/errors.h"
#include "sim/clusters/preset_files.h"

namespace rankbox {

namespace {

class Reader {
 public:
  explicit Reader(std::string source) : source_(std::move(source)) {}

  [[noreturn]] void refuse(const std::string& what) const {
    throw InvalidArgument(
        fmt::format("{}: {} (see sim/clusters/presets for examples)", source_, what));
  }

  void check_fields(const toml::table& table, const std::string& where,
                    const std::set<std::string_view>& known) const {
    for (const auto& [key, value] : table) {
      if (known.contains(key.str())) continue;
      refuse(fmt::format("unknown field \"{}\"{}: expected {}", key.str(), where,
                         fmt::join(known, ", ")));
    }
  }

  double positive(const toml::table& table, const char* field, const std::string& where) const {
    const toml::node* node = table.get(field);
    if (node == nullptr) refuse(fmt::format("{}{} is missing", field, where));
    const auto value = node->value<double>();
    if (!value || !std::isfinite(*value) || !(*value > 0)) {
      refuse(fmt::format("{}{} should be a finite number above 0", field, where));
    }
    return *value;
  }

  int whole_number(const toml::table& table, const char* field, int otherwise) const {
    const toml::node* node = table.get(field);
    if (node == nullptr) return otherwise;
    const auto number = node->value_exact<std::int64_t>();
    if (!number || *number < 0 || *number > 1'000'000) {
      std::ostringstream value;
      value << toml::node_view<const toml::node>(*node);
      refuse(fmt::format("{} = {} should be a whole number from 0 to 1000000", field, value.str()));
    }
    return static_cast<int>(*number);
  }

  /// @param call the seconds that starting a message takes, which become part of its α
  Link link(const toml::node* node, const std::string& what, double call) const {
    const toml::table* table = node == nullptr ? nullptr : node->as_table();
    if (table == nullptr) refuse(fmt::format("[{}] is missing", what));
    const std::string where = " in [" + what + "]";
    std::set<std::string_view> known = {"alpha_us", "bandwidth_GB_s", "ports", "port_GB_s"};
    if (what == "within_node") known.insert("switch_GB_s");
    check_fields(*table, where, known);
    const double bandwidth = positive(*table, "bandwidth_GB_s", where);
    if (table->contains("ports") || table->contains("port_GB_s")) {
      const double most = positive(*table, "ports", where) * positive(*table, "port_GB_s", where);
      if (bandwidth > most) {
        refuse(
            fmt::format("bandwidth_GB_s{} is {}, but ports * port_GB_s is {}: no message gets "
                        "more",
                        where, bandwidth, most));
      }
    }
    return {call + positive(*table, "alpha_us", where) * 1e-6, 1 / (bandwidth * 1e9)};
  }

  /// Returns the seconds in call_us, if the table has them.
  std::optional<double> call_of(const toml::table& table, const std::string& where) const {
    if (!table.contains("call_us")) return std::nullopt;
    return positive(table, "call_us", where) * 1e-6;
  }

  /// Returns a mode for each collective that the table names.
  std::vector<NativeMode> modes(const toml::node& node, double call) const {
    const toml::table* table = node.as_table();
    const std::string where = " in [[native]]";
    if (table == nullptr) refuse("native should be written as [[native]]");
    check_fields(*table, where,
                 {"collectives", "nodes", "most_ranks", "steps", "call_us", "alpha_us",
                  "alpha_between_us", "bandwidth_GB_s"});
    NativeMode mode;
    mode.nodes = whole_number(*table, "nodes", 1);
    if (mode.nodes == 0) refuse("nodes" + where + " should be 1 or more");
    mode.most_ranks = whole_number(*table, "most_ranks", 0);
    mode.call = call_of(*table, where).value_or(call);
    mode.link = {positive(*table, "alpha_us", where) * 1e-6,
                 1 / (positive(*table, "bandwidth_GB_s", where) * 1e9)};
    mode.alpha_between = mode.link.alpha;
    if (table->contains("alpha_between_us")) {
      mode.alpha_between = positive(*table, "alpha_between_us", where) * 1e-6;
    }
    const toml::array* names = (*table)["collectives"].as_array();
    if (names == nullptr || names->empty()) {
      refuse("collectives" + where + R"( should be a list like ["all_reduce"])");
    }
    std::vector<NativeMode> all;
    for (const toml::node& name : *names) {
      mode.collective = collective_named(name.value_or(std::string()));
      mode.steps = steps_of(*table, mode.collective, where);
      all.push_back(mode);
    }
    return all;
  }

 private:
  /// Returns what `steps` says; by default an all-reduce counts rounds, and all others a ring.
  NativeSteps steps_of(const toml::table& table, CollectiveKind kind,
                       const std::string& where) const {
    if (!table.contains("steps")) {
      return kind == CollectiveKind::kAllReduce ? NativeSteps::kRounds : NativeSteps::kRing;
    }
    const std::string name = table["steps"].value_or(std::string());
    if (name == "rounds") return NativeSteps::kRounds;
    if (name == "ring") return NativeSteps::kRing;
    if (name == "pat") return NativeSteps::kPat;
    if (name == "batches") return NativeSteps::kBatches;
    refuse(fmt::format("steps{} is \"{}\": choose from rounds, ring, pat, batches", where, name));
  }

  CollectiveKind collective_named(const std::string& name) const {
    std::vector<std::string_view> known;
    for (int i = 0; i <= static_cast<int>(CollectiveKind::kSplit); ++i) {
      const auto kind = static_cast<CollectiveKind>(i);
      if (!moves_data(kind)) continue;
      if (name == name_of(kind)) return kind;
      known.emplace_back(name_of(kind));
    }
    refuse(fmt::format("collectives in [[native]] has \"{}\": choose from {}", name,
                       fmt::join(known, ", ")));
  }

  std::string source_;
};

std::string read_text(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  if (!(file && text << file.rdbuf())) {
    throw InvalidArgument(fmt::format("cannot read the cluster file {}", path));
  }
  return text.str();
}

}  // namespace

Cluster parse_cluster(std::string_view text, const std::string& source) {
  const Reader reader(source);
  toml::table file;
  try {
    file = toml::parse(text);
  } catch (const toml::parse_error& error) {
    reader.refuse(fmt::format("line {}: {}", error.source().begin.line, error.description()));
  }
  reader.check_fields(file, "",
                      {"name", "ranks_per_node", "max_nodes", "reduction_GB_s", "call_us",
                       "within_node", "between_nodes", "native"});
  Cluster cluster;
  cluster.name = file["name"].value_or(std::string());
  if (cluster.name.empty()) reader.refuse("name is missing");
  cluster.ranks_per_node = reader.whole_number(file, "ranks_per_node", 0);
  cluster.max_nodes = reader.whole_number(file, "max_nodes", 0);
  cluster.gamma = 1 / (reader.positive(file, "reduction_GB_s", "") * 1e9);
  const double call = reader.call_of(file, "").value_or(0);
  cluster.call = call;
  cluster.within_node = reader.link(file.get("within_node"), "within_node", call);
  cluster.between_nodes = cluster.within_node;
  const toml::table& within = *file["within_node"].as_table();
  if (within.contains("switch_GB_s")) {
    cluster.switch_beta = 1 / (reader.positive(within, "switch_GB_s", " in [within_node]") * 1e9);
  }
  if (file.contains("between_nodes")) {
    cluster.between_nodes = reader.link(file.get("between_nodes"), "between_nodes", call);
  } else if (cluster.max_nodes > 1) {
    reader.refuse(
        fmt::format("max_nodes is {}, but [between_nodes] is missing: say how nodes are "
                    "connected",
                    cluster.max_nodes));
  } else {
    cluster.max_nodes = 1;
  }
  if (const toml::array* tables = file["native"].as_array()) {
    for (const toml::node& table : *tables) {
      const std::vector<NativeMode> modes = reader.modes(table, call);
      cluster.native.insert(cluster.native.end(), modes.begin(), modes.end());
    }
  } else if (file.contains("native")) {
    reader.refuse("native should be written as [[native]]");
  }
  return cluster;
}

const std::vector<Cluster>& cluster_presets() {
  static const std::vector<Cluster> presets = [] {
    std::vector<Cluster> all;
    for (const PresetFile& file : preset_files()) {
      all.push_back(parse_cluster(file.text, file.path));
    }
    return all;
  }();
  return presets;
}

Cluster cluster_named(std::string_view name) {
  if (name.ends_with(".toml") || name.find('/') != std::string_view::npos) {
    const std::string path(name);
    return parse_cluster(read_text(path), path);
  }
  std::vector<std::string_view> names;
  for (const Cluster& cluster : cluster_presets()) {
    if (cluster.name == name) return cluster;
    names.push_back(cluster.name);
  }
  throw InvalidArgument(
      fmt::format("unknown cluster \"{}\": choose one of {}, or name a .toml file", name,
                  fmt::join(names, ", ")));
}

}  // namespace rankbox
