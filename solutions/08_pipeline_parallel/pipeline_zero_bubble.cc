#include "parallel/pipeline_zero_bubble.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace rankbox {

void pipeline_zero_bubble(Comm& dist, Stage& stage) {
  const int rank = dist.rank();
  const int prev = rank - 1;
  const int next = rank + 1;
  const int all = stage.micro_batches();
  const int warm_up = std::min(all, dist.world_size() - 1 - rank);

  const auto forward = [&](int i) {
    Tensor x = stage.empty_input(i);
    if (!stage.is_first()) dist.recv(x, prev);
    return stage.forward(i, std::move(x));
  };
  // The weights' gradients come `rank` micro-batches later, while dx waits for its receiver.
  const auto backward = [&](int i, Tensor dy) {
    const Tensor dx = stage.backward_input(i, std::move(dy));
    std::vector<Request> sending;
    if (!stage.is_first()) sending.push_back(dist.isend(dx, prev));
    if (i >= rank) stage.backward_weights(i - rank);
    dist.wait_all(sending);
  };

  // 1. Fill the way to the end.
  for (int i = 0; i < warm_up; ++i) {
    const Tensor y = forward(i);
    if (!stage.is_last()) dist.send(y, next);
  }

  // 2. For each activation that goes down, a gradient comes up.
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

  // 4. No rank waits for these.
  for (int i = std::max(0, all - rank); i < all; ++i) stage.backward_weights(i);
}

}  // namespace rankbox
