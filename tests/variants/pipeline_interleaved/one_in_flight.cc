// Each send is waited for before the next one in its direction.
#include <algorithm>
#include <utility>

#include "parallel/pipeline_interleaved.h"

namespace rankbox {

namespace {

/// One message in flight to a neighbour, and its tensor: the next one waits for it.
class Outbox {
 public:
  Outbox(Comm& dist, int to) : dist_(dist), to_(to) {}

  void send(Tensor tensor) {
    wait();
    tensor_ = std::move(tensor);
    request_ = dist_.isend(tensor_, to_);
    is_under_way_ = true;
  }
  void wait() {
    if (is_under_way_) dist_.wait(request_);
    is_under_way_ = false;
  }

 private:
  Comm& dist_;
  int to_;
  Tensor tensor_;
  Request request_;
  bool is_under_way_ = false;
};

}  // namespace

void pipeline_interleaved(Comm& dist, std::vector<Stage>& chunks) {
  const int p = dist.world_size();
  const int r = dist.rank();
  const int v = static_cast<int>(chunks.size());
  const int all = v * chunks.front().micro_batches();
  const int warm_up = std::min(all, 2 * (p - 1 - r) + (v - 1) * p);
  const int next = (r + 1) % p;
  const int prev = (r + p - 1) % p;

  Outbox activations(dist, next);
  Outbox gradients(dist, prev);

  // The k-th forward; the k-th backward goes through the chunks the other way round.
  const auto chunk_of = [&](int k) { return k % (v * p) / p; };
  const auto micro_batch_of = [&](int k) { return p * (k / (v * p)) + k % p; };

  const auto forward = [&](int k) {
    Stage& chunk = chunks[static_cast<std::size_t>(chunk_of(k))];
    const int i = micro_batch_of(k);
    Tensor x = chunk.empty_input(i);
    if (!chunk.is_first()) dist.recv(x, prev);
    Tensor y = chunk.forward(i, std::move(x));
    if (!chunk.is_last()) activations.send(std::move(y));
  };
  const auto backward = [&](int k) {
    Stage& chunk = chunks[static_cast<std::size_t>(v - 1 - chunk_of(k))];
    const int i = micro_batch_of(k);
    Tensor dy = chunk.empty_output_gradient(i);
    if (!chunk.is_last()) dist.recv(dy, next);
    Tensor dx = chunk.backward(i, std::move(dy));
    if (!chunk.is_first()) gradients.send(std::move(dx));
  };

  for (int k = 0; k < warm_up; ++k) forward(k);
  for (int k = warm_up; k < all; ++k) {
    forward(k);
    backward(k - warm_up);
  }
  for (int k = all - warm_up; k < all; ++k) backward(k);
  activations.wait();
  gradients.wait();
}

}  // namespace rankbox
