#include "parallel/pipeline_interleaved.h"

#include <utility>

namespace rankbox {

void pipeline_interleaved(Comm& dist, std::vector<Stage>& chunks) {
  const int p = dist.world_size();
  const int r = dist.rank();
  const int v = static_cast<int>(chunks.size());
  const int all = v * chunks.front().micro_batches();
  const int lead = 2 * (p - 1 - r) + (v - 1) * p;  // backward k - lead comes after forward k
  const int next = (r + 1) % p;
  const int prev = (r + p - 1) % p;

  // The k-th forward; the k-th backward goes through the chunks the other way round.
  const auto chunk_of = [&](int k) { return k % (v * p) / p; };
  const auto micro_batch_of = [&](int k) { return p * (k / (v * p)) + k % p; };
  const auto forward_chunk = [&](int k) -> Stage& {
    return chunks[static_cast<std::size_t>(chunk_of(k))];
  };
  const auto backward_chunk = [&](int k) -> Stage& {
    return chunks[static_cast<std::size_t>(v - 1 - chunk_of(k))];
  };
  const auto has_pass = [=](int k) { return k >= 0 && k < all; };

  Tensor x, dy;  // of the next passes; empty where nothing is received
  for (int k = -1; k < all + lead; ++k) {
    // 1. A forward, a backward, both, or neither.
    Tensor y, dx;
    if (has_pass(k)) y = forward_chunk(k).forward(micro_batch_of(k), std::move(x));
    const int b = k - lead;
    if (has_pass(b)) dx = backward_chunk(b).backward(micro_batch_of(b), std::move(dy));

    // 2. Their results for those of the next passes, with both neighbours at the same time.
    x = has_pass(k + 1) ? forward_chunk(k + 1).empty_input(micro_batch_of(k + 1)) : Tensor();
    dy = has_pass(b + 1) ? backward_chunk(b + 1).empty_output_gradient(micro_batch_of(b + 1))
                         : Tensor();
    std::vector<Request> requests;
    if (!x.empty()) requests.push_back(dist.irecv(x, prev));
    if (!dy.empty()) requests.push_back(dist.irecv(dy, next));
    if (!y.empty()) requests.push_back(dist.isend(y, next));
    if (!dx.empty()) requests.push_back(dist.isend(dx, prev));
    dist.wait_all(requests);
  }
}

}  // namespace rankbox
