// Activations and gradients in communicators of their own; the order of the passes is made first.
#include <algorithm>
#include <utility>
#include <vector>

#include "parallel/pipeline_interleaved.h"

namespace rankbox {

namespace {

struct Visit {
  bool down = true;
  int chunk = 0;
  int micro_batch = 0;
};

/// Through the chunks in groups of p micro-batches.
std::vector<Visit> one_way(bool down, int p, int v, int m) {
  std::vector<Visit> all;
  for (int group = 0; group < m; group += p) {
    for (int chunk = 0; chunk < v; ++chunk) {
      for (int i = 0; i < p; ++i) all.push_back({down, down ? chunk : v - 1 - chunk, group + i});
    }
  }
  return all;
}

std::vector<Visit> order_of(int r, int p, int v, int m) {
  const std::vector<Visit> there = one_way(true, p, v, m);
  const std::vector<Visit> back = one_way(false, p, v, m);
  const std::size_t lead =
      std::min(there.size(), static_cast<std::size_t>(2 * (p - 1 - r) + (v - 1) * p));
  std::vector<Visit> all(there.begin(), there.begin() + static_cast<std::ptrdiff_t>(lead));
  for (std::size_t k = lead; k < there.size() + lead; ++k) {
    if (k < there.size()) all.push_back(there[k]);
    all.push_back(back[k - lead]);
  }
  return all;
}

}  // namespace

void pipeline_interleaved(Comm& dist, std::vector<Stage>& chunks) {
  const int p = dist.world_size();
  const int r = dist.rank();
  const int ahead[] = {(r + p - 1) % p, (r + 1) % p};  // whereto: up, down
  Comm ways[] = {dist.split(0, r), dist.split(0, r)};
  Tensor under_way[2];
  std::vector<Request> requests[2];

  const int v = static_cast<int>(chunks.size());
  for (const Visit& pass : order_of(r, p, v, chunks.front().micro_batches())) {
    Stage& stage = chunks[static_cast<std::size_t>(pass.chunk)];
    const std::size_t way = pass.down ? 1 : 0;
    Tensor tensor = pass.down ? stage.empty_input(pass.micro_batch)
                              : stage.empty_output_gradient(pass.micro_batch);
    if (!tensor.empty()) ways[way].recv(tensor, ahead[1 - way]);
    tensor = pass.down ? stage.forward(pass.micro_batch, std::move(tensor))
                       : stage.backward(pass.micro_batch, std::move(tensor));
    if (tensor.empty()) continue;
    ways[way].wait_all(requests[way]);
    under_way[way] = std::move(tensor);
    requests[way] = {ways[way].isend(under_way[way], ahead[way])};
  }
  for (const std::size_t way : {0U, 1U}) ways[way].wait_all(requests[way]);
}

}  // namespace rankbox
