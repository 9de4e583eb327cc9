// A class lengthens the tensor, and copies it back when it goes.
#include <utility>

#include "collectives/allgather_ring.h"
#include "collectives/allreduce_hierarchical.h"
#include "collectives/allreduce_rabenseifner.h"
#include "collectives/average.h"
#include "collectives/reduce_scatter_ring.h"

namespace rankbox {

namespace {

class Padded {
 public:
  Padded(Tensor& tensor, int pieces)
      : tensor_(tensor), longer_(zeros((tensor.size() + pieces - 1) / pieces * pieces)) {
    copy(Slice(longer_).sub(0, tensor.size()), tensor);
  }
  Padded(const Padded&) = delete;
  Padded& operator=(const Padded&) = delete;
  ~Padded() { copy(tensor_, Slice(longer_).sub(0, tensor_.size())); }

  Tensor& get() { return longer_; }

 private:
  Tensor& tensor_;
  Tensor longer_;
};

}  // namespace

void allreduce_hierarchical(Comm& node, Comm& counterparts, Tensor& tensor, ReduceOp op) {
  Padded padded(tensor, node.world_size());
  Tensor piece(padded.get().size() / node.world_size());
  reduce_scatter_ring(node, padded.get(), piece, sum_if_average(op));
  allreduce_rabenseifner(counterparts, piece, sum_if_average(op));
  if (op == ReduceOp::AVG)
    piece /= static_cast<float>(node.world_size() * counterparts.world_size());
  allgather_ring(node, piece, padded.get());
}

}  // namespace rankbox
