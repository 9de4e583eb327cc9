// A class with a function for each direction.
#include <utility>

#include "parallel/column_linear.h"
#include "parallel/parallel_mlp.h"
#include "parallel/row_linear.h"

namespace rankbox {

namespace {

class Block {
 public:
  Block(Comm& dist, ParallelMlp& shard, Saved& saved) : dist_(dist), shard_(shard), saved_(saved) {}

  Tensor forward(Tensor x) {
    column_linear(dist_, shard_.fc1, Direction::kForward, x, saved_);
    Tensor middle = shard_.activation.forward(std::move(x), saved_);
    row_linear(dist_, shard_.fc2, shard_.bias, Direction::kForward, middle, saved_);
    return middle;
  }
  Tensor backward(Tensor dy) {
    row_linear(dist_, shard_.fc2, shard_.bias, Direction::kBackward, dy, saved_);
    Tensor middle = shard_.activation.backward(std::move(dy), saved_);
    column_linear(dist_, shard_.fc1, Direction::kBackward, middle, saved_);
    return middle;
  }

 private:
  Comm& dist_;
  ParallelMlp& shard_;
  Saved& saved_;
};

}  // namespace

void parallel_mlp(Comm& dist, ParallelMlp& shard, Direction direction, Tensor& tensor,
                  Saved& saved) {
  Block block(dist, shard, saved);
  const bool forward = direction == Direction::kForward;
  tensor = forward ? block.forward(std::move(tensor)) : block.backward(std::move(tensor));
}

}  // namespace rankbox
