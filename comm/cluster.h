// The cost of messages and additions on a machine: the α-β-γ model.
//
// A message of n bytes takes α + nβ seconds, a reduction of n bytes nγ. α and β depend on whether
// the two ranks share a node. (Hockney 1994; Thakur, Rabenseifner and Gropp 2005.) β is what one
// pair of ranks can use of the physical links of a rank: NVLinks to the other GPUs of its node, one
// or more adapters to the network. α includes what starting a message takes: on a GPU, a kernel.
//
// A library's native collectives do not follow this model where hardware adds in the switch, or
// where the adapters of all ranks of a node share the work of one collective. Their modes describe
// them. Messages never use the modes.
#pragma once

#include <string>
#include <vector>

#include "comm/collective_kind.h"

namespace rankbox {

/// One class of links.
struct Link {
  double alpha = 0;  // seconds per message
  double beta = 0;   // seconds per byte
};

/// How the steps of a mode grow with the ranks.
enum class NativeSteps {
  kRounds,   // of a tree: ceil(log2 p)
  kRing,     // p - 1 hops; there and back for an all-reduce
  kPat,      // rounds between nodes, and a share for each rank; only with one rank on each node
  kBatches,  // messages between all pairs, several of a rank in flight
};

/// One way in which a library performs a collective: a protocol for short messages, for example. A
/// call takes `call` + steps·α + wire·β seconds: sim/clock/native_cost.h has steps and wire.
struct NativeMode {
  CollectiveKind collective = CollectiveKind::kAllReduce;
  int nodes = 1;    // for groups on this many nodes, and on more up to the next mode's number
  double call = 0;  // seconds: what starting a collective takes
  Link link;        // its α is that of a step inside a node
  double alpha_between = 0;  // seconds: a step from node to node
  NativeSteps steps = NativeSteps::kRounds;
  int most_ranks = 0;  // of a group; 0: any number
};

struct Cluster {
  std::string name = "laptop";
  Link within_node = {0.3e-6, 0.1e-9};
  Link between_nodes = {0.3e-6, 0.1e-9};
  double gamma = 0.1e-9;   // seconds per byte reduced
  int ranks_per_node = 0;  // 0: all ranks on one node
  int max_nodes = 0;       // 0: any number
  // Seconds of each α that starting a message takes. Messages of one group start together, with one
  // call (sim/clock/call_groups.h): the first one that a rank sends pays it.
  double call = 0;
  // Seconds per byte that a rank sends to a switch inside the node that adds; 0: there is none.
  double switch_beta = 0;
  // A collective without modes costs as much as the best known algorithm on the links.
  std::vector<NativeMode> native = {};

  /// Returns the number of nodes that this many ranks fill.
  int nodes_for(int world_size) const {
    return ranks_per_node == 0 ? 1 : (world_size + ranks_per_node - 1) / ranks_per_node;
  }
  const Link& link(bool same_node) const { return same_node ? within_node : between_nodes; }
};

}  // namespace rankbox
