// In the steady state the gradient comes first, then the activation leaves: who is behind sends
// first and receives later, so no stage hangs.
#include <algorithm>
#include <utility>

#include "parallel/pipeline_1f1b.h"

namespace rankbox {

void pipeline_1f1b(Comm& dist, Stage& stage) {
  const int r = dist.rank();
  const int m = stage.micro_batches();
  const int lead = std::min(m, dist.world_size() - 1 - r);
  for (int i = 0; i < m + lead; ++i) {
    const bool goes_down = i < m;
    const bool comes_up = i >= lead;
    Tensor y;
    if (goes_down) {
      Tensor x = stage.empty_input(i);
      if (r > 0) dist.recv(x, r - 1);
      y = stage.forward(i, std::move(x));
    }
    Tensor dy;
    if (comes_up) dy = stage.empty_output_gradient(i - lead);
    if (!dy.empty()) dist.recv(dy, r + 1);
    if (!y.empty()) dist.send(y, r + 1);
    if (!comes_up) continue;
    const Tensor dx = stage.backward(i - lead, std::move(dy));
    if (r > 0) dist.send(dx, r - 1);
  }
}

}  // namespace rankbox
