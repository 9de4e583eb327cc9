// The share is added to what has arrived, instead of the other way round.
#include <utility>
#include <vector>

#include "parallel/ring_attention_backward.h"

namespace rankbox {

void ring_attention_backward(Comm& dist, const Tensor& q, const Tensor& kv, const Tensor& y,
                             const Tensor& log_sum, const Tensor& dy, std::int64_t length,
                             Tensor& dq, Tensor& dkv) {
  const int p = dist.world_size(), rank = dist.rank();
  const int next = rank + 1 == p ? 0 : rank + 1, prev = rank == 0 ? p - 1 : rank - 1;
  dq = zeros(q.shape());
  Tensor block, sum;
  int owner = rank;  // of the block here
  for (int left = p - 1; left >= 0; --left) {
    const Tensor& here = owner == rank ? kv : block;
    const int before = owner == 0 ? p - 1 : owner - 1;
    std::vector<Request> requests;
    Tensor coming, total;
    if (left > 0) {
      coming = empty_kv(kv, tokens_of(length, before, p));
      requests.push_back(dist.irecv(coming, prev));
      requests.push_back(dist.isend(here, next));
    }
    if (owner != rank) {
      total = empty_like(here);
      requests.push_back(dist.irecv(total, prev));
      requests.push_back(dist.isend(sum, next));
    }
    Tensor share = attend_block_backward(dist, q, here, y, log_sum, dy, dq);
    dist.wait_all(requests);
    if (owner == rank) {
      sum = std::move(share);
    } else {
      total += share;
      sum = std::move(total);
    }
    block = std::move(coming);
    owner = before;
  }
  if (p == 1) dkv = std::move(sum);
  if (p > 1) dist.sendrecv(sum, next, dkv, prev);
}

}  // namespace rankbox
