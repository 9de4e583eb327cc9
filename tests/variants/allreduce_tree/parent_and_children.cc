// The tree of a rank is data: a parent and its children, who are told all at once, the farthest
// first.
#include <ranges>
#include <vector>

#include "collectives/allreduce_tree.h"
#include "collectives/average.h"
#include "collectives/topology.h"

namespace rankbox {

void allreduce_tree(Comm& dist, Tensor& tensor, ReduceOp op) {
  const int p = dist.world_size();
  const int me = dist.rank();
  std::vector<int> children;
  int bit = 1;
  for (; bit < p && (me & bit) == 0; bit *= 2)
    if (me + bit < p) children.push_back(me + bit);

  Tensor share = empty_like(tensor);
  for (const int child : children) {
    dist.recv(share, child);
    accumulate(tensor, share, op);
  }
  if (me == 0) {
    divide_if_average(tensor, op, p);
  } else {
    dist.send(tensor, me - bit);
    dist.recv(tensor, me - bit);
  }
  std::vector<Request> leaving;
  for (const int child : children | std::views::reverse)
    leaving.push_back(dist.isend(tensor, child));
  dist.wait_all(leaving);
}

}  // namespace rankbox
