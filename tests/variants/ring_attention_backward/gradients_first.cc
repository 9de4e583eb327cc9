// Each step starts the messages of the gradients before those of the block; waits for each alone.
#include <utility>

#include "parallel/ring_attention_backward.h"

namespace rankbox {

void ring_attention_backward(Comm& dist, const Tensor& q, const Tensor& kv, const Tensor& y,
                             const Tensor& log_sum, const Tensor& dy, std::int64_t length,
                             Tensor& dq, Tensor& dkv) {
  const int p = dist.world_size(), next = (dist.rank() + 1) % p, prev = (dist.rank() + p - 1) % p;
  const auto tokens = [&](int step) { return tokens_of(length, (dist.rank() - step + p) % p, p); };
  Tensor here = clone(kv), sum;
  copy(dq, zeros(q.shape()));
  for (int step = 0; step < p; ++step) {
    Tensor from_prev, next_block;
    Request sum_goes, sum_comes, block_goes, block_comes;
    if (step > 0) {
      from_prev = empty_kv(kv, tokens(step));
      sum_comes = dist.irecv(from_prev, prev);
      sum_goes = dist.isend(sum, next);
    }
    if (step + 1 < p) {
      next_block = empty_kv(kv, tokens(step + 1));
      block_comes = dist.irecv(next_block, prev);
      block_goes = dist.isend(here, next);
    }
    Tensor own = attend_block_backward(dist, q, here, y, log_sum, dy, dq);
    if (step > 0) {
      dist.wait(sum_comes);
      own += from_prev;
      dist.wait(sum_goes);
    }
    sum = std::move(own);
    if (step + 1 < p) dist.wait_all({block_goes, block_comes});
    here = std::move(next_block);
  }
  if (p > 1) {
    const Request home = dist.irecv(dkv, prev);
    dist.send(sum, next);
    dist.wait(home);
  } else {
    copy(dkv, sum);
  }
}

}  // namespace rankbox
