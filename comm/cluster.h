// The cost of messages and additions on a machine: the α-β-γ model.
//
// A message of n bytes takes α + nβ seconds, a reduction of n bytes nγ. α and β depend on whether
// the two ranks share a node. (Hockney 1994; Thakur, Rabenseifner and Gropp 2005.)
//
// A library's native collectives do not always follow this model: libraries have protocols for
// short and for long messages, and hardware that reduces in the network. Where this was measured, a
// collective takes the fastest of a few modes,
//
//   min over modes of   ⌈log2 p⌉ α + wire β,
//
// where `wire` is the least number of bytes that a rank must send: 2(p-1)/p n for an all-reduce of
// n bytes.
#pragma once

#include <string>
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
  // The modes. If empty, native collectives cost as much as the best known algorithm on the links.
  std::vector<Link> native = {};

  /// Returns the number of nodes that this many ranks fill.
  int nodes_for(int world_size) const {
    return ranks_per_node == 0 ? 1 : (world_size + ranks_per_node - 1) / ranks_per_node;
  }
  const Link& link(bool same_node) const { return same_node ? within_node : between_nodes; }
};

}  // namespace rankbox
