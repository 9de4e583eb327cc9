#include "parallel/column_linear.h"

namespace rankbox {

void column_linear(Comm& dist, Linear& shard, Direction direction, Tensor& tensor, Saved& saved) {
  // TODO: tensor = shard.forward(std::move(tensor), saved) computes the columns. On which side of
  // it does f go forward, and on which backward? (parallel/conjugate_f.h)
  throw NotImplemented("column_linear");
}

}  // namespace rankbox
