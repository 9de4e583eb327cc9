// What messages and additions cost on a machine: the α-β-γ model.
//
// A message of n bytes takes α + nβ seconds, a reduction of n bytes nγ. α and β depend on whether
// the two ranks share a node. (Hockney 1994; Thakur, Rabenseifner and Gropp 2005.)
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rankbox {

/// One class of links.
struct Link {
  double alpha = 0;  // seconds per message
  double beta = 0;   // seconds per byte
};

struct Cluster {
  std::string name = "laptop";
  Link within_node = {0.3e-6, 0.1e-9};
  Link between_nodes = {0.3e-6, 0.1e-9};
  double gamma = 0.1e-9;   // seconds per byte reduced
  int ranks_per_node = 0;  // 0: all ranks on one node

  /// The nodes that this many ranks fill.
  int nodes_for(int world_size) const {
    return ranks_per_node == 0 ? 1 : (world_size + ranks_per_node - 1) / ranks_per_node;
  }
  const Link& link(bool same_node) const { return same_node ? within_node : between_nodes; }
};

/// The machines Rankbox knows by name; the first is the default.
const std::vector<Cluster>& cluster_presets();

/// The preset of that name. Throws InvalidArgument that lists the names.
const Cluster& cluster_named(std::string_view name);

}  // namespace rankbox
