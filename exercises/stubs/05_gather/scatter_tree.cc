#include "collectives/scatter_tree.h"

namespace rankbox {

void scatter_tree(Comm& dist, const Tensor& whole, Tensor& piece, int src) {
  // TODO: receive the block of your subtree from your parent, then give the far parts to your
  // children. It is gather_tree with time running backwards: the largest distance comes first.
  // `whole` is in rank order. What does src do so that each subtree is one contiguous block?
  throw NotImplemented("scatter_tree");
}

}  // namespace rankbox
