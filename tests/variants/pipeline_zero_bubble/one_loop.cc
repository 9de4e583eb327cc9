// One loop for warm-up, steady state and cool-down. Each gradient is received before the activation
// leaves, and what the rank owes comes last.
#include <algorithm>
#include <utility>
#include <vector>

#include "parallel/pipeline_zero_bubble.h"

namespace rankbox {

void pipeline_zero_bubble(Comm& dist, Stage& stage) {
  const int r = dist.rank();
  const int m = stage.micro_batches();
  const int lead = std::min(m, dist.world_size() - 1 - r);
  int owed = 0;
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
    const Tensor dx = stage.backward_input(i - lead, std::move(dy));
    std::vector<Request> sent;
    if (r > 0) sent.push_back(dist.isend(dx, r - 1));
    if (++owed > r) stage.backward_weights(owed - 1 - r);
    dist.wait_all(sent);
  }
  for (int i = std::max(0, m - r); i < m; ++i) stage.backward_weights(i);
}

}  // namespace rankbox
