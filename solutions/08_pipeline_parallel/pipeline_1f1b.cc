#include "parallel/pipeline_1f1b.h"

#include <algorithm>
#include <utility>

namespace rankbox {

void pipeline_1f1b(Comm& dist, Stage& stage) {
  const int prev = dist.rank() - 1;
  const int next = dist.rank() + 1;
  const int all = stage.micro_batches();
  const int warm_up = std::min(all, dist.world_size() - 1 - dist.rank());

  const auto forward = [&](int i) {
    Tensor x = stage.empty_input(i);
    if (!stage.is_first()) dist.recv(x, prev);
    return stage.forward(i, std::move(x));
  };
  const auto backward = [&](int i, Tensor dy) {
    const Tensor dx = stage.backward(i, std::move(dy));
    if (!stage.is_first()) dist.send(dx, prev);
  };

  // 1. Fill the way to the end.
  for (int i = 0; i < warm_up; ++i) {
    const Tensor y = forward(i);
    if (!stage.is_last()) dist.send(y, next);
  }

  // 2. For each activation that goes down, a gradient comes up: over the same link, at the same
  //    time.
  for (int i = warm_up; i < all; ++i) {
    const Tensor y = forward(i);
    Tensor dy = stage.empty_output_gradient(i - warm_up);
    if (!stage.is_last()) dist.sendrecv(y, next, dy, next);
    backward(i - warm_up, std::move(dy));
  }

  // 3. The micro-batches still in flight.
  for (int i = all - warm_up; i < all; ++i) {
    Tensor dy = stage.empty_output_gradient(i);
    if (!stage.is_last()) dist.recv(dy, next);
    backward(i, std::move(dy));
  }
}

}  // namespace rankbox
