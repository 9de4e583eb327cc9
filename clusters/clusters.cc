#include "clusters/clusters.h"

#include <cmath>
#include <fstream>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include "clusters/preset_files.h"
#include "comm/errors.h"

namespace rankbox {

namespace {

class Reader {
 public:
  explicit Reader(std::string source) : source_(std::move(source)) {}

  [[noreturn]] void refuse(const std::string& what) const {
    throw InvalidArgument(fmt::format("{}: {} (see clusters/presets for examples)", source_, what));
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

  int ranks_per_node(const toml::table& table) const {
    const toml::node* node = table.get("ranks_per_node");
    if (node == nullptr) return 0;
    const auto ranks = node->value_exact<std::int64_t>();
    if (!ranks || *ranks < 0 || *ranks > 1'000'000) {
      std::ostringstream value;
      value << toml::node_view<const toml::node>(*node);
      refuse(
          fmt::format("ranks_per_node = {} should be a whole number from 0 (all ranks on one "
                      "node) to 1000000",
                      value.str()));
    }
    return static_cast<int>(*ranks);
  }

  Link link(const toml::node* node, const std::string& what) const {
    const toml::table* table = node == nullptr ? nullptr : node->as_table();
    if (table == nullptr) refuse(fmt::format("[{}] is missing", what));
    const std::string where = " in [" + what + "]";
    check_fields(*table, where, {"alpha_us", "bandwidth_GB_s"});
    return {positive(*table, "alpha_us", where) * 1e-6,
            1 / (positive(*table, "bandwidth_GB_s", where) * 1e9)};
  }

 private:
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
  reader.check_fields(
      file, "",
      {"name", "ranks_per_node", "reduction_GB_s", "within_node", "between_nodes", "native"});
  Cluster cluster;
  cluster.name = file["name"].value_or(std::string());
  if (cluster.name.empty()) reader.refuse("name is missing");
  cluster.ranks_per_node = reader.ranks_per_node(file);
  cluster.gamma = 1 / (reader.positive(file, "reduction_GB_s", "") * 1e9);
  cluster.within_node = reader.link(file.get("within_node"), "within_node");
  cluster.between_nodes = cluster.within_node;
  if (file.contains("between_nodes")) {
    cluster.between_nodes = reader.link(file.get("between_nodes"), "between_nodes");
  }
  if (const toml::array* modes = file["native"].as_array()) {
    for (const toml::node& mode : *modes) cluster.native.push_back(reader.link(&mode, "[native]"));
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
