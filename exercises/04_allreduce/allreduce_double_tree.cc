#include "collectives/allreduce_double_tree.h"

namespace rankbox {

void allreduce_double_tree(Comm& dist, Tensor& tensor, ReduceOp op, int segments) {
  // TODO: tree_position() and rank_at() in collectives/topology.h give the two trees. Tree t sums
  // chunk(tensor, t, 2), segment by segment, up to its root, and copies it down again.
  // In which turn does each message leave, so that no rank ever sends two in a turn, or receives
  // two? When has a segment arrived, and when has it been added?
  throw NotImplemented("allreduce_double_tree");
}

}  // namespace rankbox
