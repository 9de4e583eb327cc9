// The ranks of a machine as a grid: a row for each node, a column for each place in a node.
//
// As PyTorch's two-dimensional device mesh, whose dimensions are process groups:
//
//                   local rank 0   1   2   3
//   node 0               rank  0   1   2   3      node: a row, over the links inside a node
//   node 1               rank  4   5   6   7      counterparts: a column, each over an adapter of
//                                                 its own
//
// A program makes the two communicators once and keeps them: on NCCL, a split takes milliseconds to
// seconds.
#pragma once

#include <string>

#include "comm/comm.h"
#include "comm/errors.h"

namespace rankbox {

/// The two communicators of a rank. Functions take them as two arguments, because each of them
/// works with any rows and columns: the inner and outer dimension of any mesh.
struct NodeGrid {
  Comm node;          // the ranks of this rank's node
  Comm counterparts;  // the ranks with the same place in their nodes, one of each node
};

/// Nodes with different numbers of ranks. Every rank throws it.
class UnevenNodes : public InvalidArgument {
  using InvalidArgument::InvalidArgument;
};

/// Returns this rank's row and column. Both have the order of `dist`. The place in a node is
/// counted among the ranks of `dist`, which may be a part of the world.
///
/// REQUIRES: every rank calls it. Blocks until all have.
/// Errors: UnevenNodes on every rank if the nodes have different numbers of ranks.
/// Cost: three splits.
inline NodeGrid split_by_node(Comm& dist, Place place = Place::current()) {
  Comm node = dist.split(dist.node(), dist.rank(), place);
  // All ranks must learn whether the sizes differ, or only some would throw and the others hang.
  const Comm alike = dist.split(node.world_size(), dist.rank(), place);
  const int others = dist.world_size() - alike.world_size();
  if (others > 0) {
    const std::string file = place.file_name();
    const auto line = static_cast<int>(place.line());
    const std::string at = line == 0 ? "" : " at " + file + ":" + std::to_string(line);
    throw UnevenNodes("split_by_node" + at + ": node " + std::to_string(dist.node()) + " has " +
                          std::to_string(node.world_size()) +
                          (node.world_size() == 1 ? " rank, and " : " ranks, and ") +
                          std::to_string(others) + " of the " + std::to_string(dist.world_size()) +
                          " ranks are on nodes with more or fewer; start as many ranks on every "
                          "node, or call an all-reduce that needs no grid of nodes",
                      {dist.rank(), "split_by_node", -1, file, line});
  }
  return {node, dist.split(node.rank(), dist.rank(), place)};
}

}  // namespace rankbox
