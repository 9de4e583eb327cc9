// Sends are waited for when as many are under way as there are ranks.
#include <algorithm>
#include <list>
#include <utility>

#include "parallel/pipeline_interleaved.h"

namespace rankbox {

void pipeline_interleaved(Comm& dist, std::vector<Stage>& chunks) {
  struct Sent {
    Tensor tensor;
    Request request = {};
  };
  const int p = dist.world_size();
  const int r = dist.rank();
  const int v = static_cast<int>(chunks.size());
  const int m = chunks.front().micro_batches();
  std::list<Sent> down;
  std::list<Sent> up;
  const auto wait_for_all_but = [&](std::list<Sent>& sent, int number) {
    for (; static_cast<int>(sent.size()) > number; sent.pop_front())
      dist.wait(sent.front().request);
  };
  const auto send = [&](std::list<Sent>& sent, Tensor tensor, int to) {
    if (tensor.empty()) return;
    wait_for_all_but(sent, p - 1);
    sent.push_back({std::move(tensor)});
    sent.back().request = dist.isend(sent.back().tensor, to);
  };
  const auto pass = [&](int k, bool forward) {
    const int in_round = k % (p * v) / p;
    const int i = k / (p * v) * p + k % p;
    Stage& chunk = chunks[static_cast<std::size_t>(forward ? in_round : v - 1 - in_round)];
    Tensor tensor = forward ? chunk.empty_input(i) : chunk.empty_output_gradient(i);
    if (!tensor.empty()) dist.recv(tensor, forward ? (r + p - 1) % p : (r + 1) % p);
    if (forward) send(down, chunk.forward(i, std::move(tensor)), (r + 1) % p);
    if (!forward) send(up, chunk.backward(i, std::move(tensor)), (r + p - 1) % p);
  };
  const int lead = std::min(v * m, 2 * (p - r - 1) + p * (v - 1));
  for (int k = 0; k < v * m + lead; ++k) {
    if (k < v * m) pass(k, true);
    if (k >= lead) pass(k - lead, false);
  }
  wait_for_all_but(down, 0);
  wait_for_all_but(up, 0);
}

}  // namespace rankbox
