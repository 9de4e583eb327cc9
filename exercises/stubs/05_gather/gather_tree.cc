#include "collectives/gather_tree.h"

namespace rankbox {

void gather_tree(Comm& dist, const Tensor& tensor, Tensor& gathered, int dst) {
  // TODO: in rounds of distance 1, 2, 4, …, receive the block of a child or send yours to your
  // parent. Number the ranks from dst on. Which virtual ranks pass through you, and is the last
  // block full? Slice(block).sub(begin, end) is a piece of a tensor. Are the blocks in rank order
  // at the end?
  throw NotImplemented("gather_tree");
}

}  // namespace rankbox
