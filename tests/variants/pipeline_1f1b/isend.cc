// Nothing blocks but receives; each send is waited for when the next one leaves.
#include <algorithm>
#include <utility>
#include <vector>

#include "parallel/pipeline_1f1b.h"

namespace rankbox {

void pipeline_1f1b(Comm& dist, Stage& stage) {
  const int r = dist.rank();
  const int m = stage.micro_batches();
  struct Post {
    int to;
    Tensor tensor = {};
    std::vector<Request> request = {};
  };
  Post down{r + 1};
  Post up{r - 1};
  const auto wait = [&](Post& post) {
    dist.wait_all(post.request);
    post.request.clear();
  };
  const auto send = [&](Post& post, Tensor tensor) {
    wait(post);
    post.tensor = std::move(tensor);
    if (!post.tensor.empty()) post.request.push_back(dist.isend(post.tensor, post.to));
  };
  const auto forward = [&](int i) {
    Tensor x = stage.empty_input(i);
    if (r > 0) dist.recv(x, r - 1);
    send(down, stage.forward(i, std::move(x)));
  };
  const auto backward = [&](int i) {
    Tensor dy = stage.empty_output_gradient(i);
    if (!stage.is_last()) dist.recv(dy, r + 1);
    send(up, stage.backward(i, std::move(dy)));
  };
  const int lead = std::min(m, dist.world_size() - 1 - r);
  for (int i = 0; i < m + lead; ++i) {
    if (i < m) forward(i);
    if (i >= lead) backward(i - lead);
  }
  wait(down);
  wait(up);
}

}  // namespace rankbox
