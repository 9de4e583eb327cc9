#include "parallel/model_parallel.h"

#include <utility>

namespace rankbox {

void model_parallel(Comm& dist, Stage& stage) {
  const int prev = dist.rank() - 1;
  const int next = dist.rank() + 1;
  for (int i = 0; i < stage.micro_batches(); ++i) {
    // 1. Down the stages.
    Tensor x = stage.empty_input(i);
    if (!stage.is_first()) dist.recv(x, prev);
    const Tensor y = stage.forward(i, std::move(x));
    if (!stage.is_last()) dist.send(y, next);

    // 2. And up again.
    Tensor dy = stage.empty_output_gradient(i);
    if (!stage.is_last()) dist.recv(dy, next);
    const Tensor dx = stage.backward(i, std::move(dy));
    if (!stage.is_first()) dist.send(dx, prev);
  }
}

}  // namespace rankbox
