// Does not move, so that for a moment everything is there twice.
#include "parallel/model_parallel.h"

namespace rankbox {

void model_parallel(Comm& dist, Stage& stage) {
  for (int i = 0; i < stage.micro_batches(); ++i) {
    Tensor x = stage.empty_input(i);
    if (!x.empty()) dist.recv(x, dist.rank() - 1);
    Tensor y = stage.forward(i, x);
    if (!stage.is_last()) dist.send(y, dist.rank() + 1);
    Tensor dy = stage.empty_output_gradient(i);
    if (!dy.empty()) dist.recv(dy, dist.rank() + 1);
    Tensor dx = stage.backward(i, dy);
    if (!stage.is_first()) dist.send(dx, dist.rank() - 1);
  }
}

}  // namespace rankbox
