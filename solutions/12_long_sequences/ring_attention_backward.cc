#include "parallel/ring_attention_backward.h"

#include <utility>
#include <vector>

namespace rankbox {

void ring_attention_backward(Comm& dist, const Tensor& q, const Tensor& kv, const Tensor& y,
                             const Tensor& log_sum, const Tensor& dy, std::int64_t length,
                             Tensor& dq, Tensor& dkv) {
  const int p = dist.world_size();
  const int rank = dist.rank();
  const int next = (rank + 1) % p;
  const int prev = (rank + p - 1) % p;

  dq = zeros(q.shape());
  Tensor received;  // in the step before
  Tensor sum;       // of the gradients of the block of the step before, up to this rank
  for (int step = 0; step < p; ++step) {
    const Tensor& here = step == 0 ? kv : received;

    // 1. The block goes on; what the rank before has added up for it arrives.
    Tensor incoming;
    Tensor sum_before;
    std::vector<Request> requests;
    if (step + 1 < p) {
      incoming = empty_kv(kv, tokens_of(length, (rank - step - 1 + p) % p, p));
      requests = {dist.isend(here, next), dist.irecv(incoming, prev)};
    }
    if (step > 0) {
      sum_before = empty_like(here);
      requests.push_back(dist.isend(sum, next));
      requests.push_back(dist.irecv(sum_before, prev));
    }

    // 2. Meanwhile, this rank's share.
    Tensor share = attend_block_backward(dist, q, here, y, log_sum, dy, dq);

    // 3. Both together go on in the next step.
    dist.wait_all(requests);
    if (step > 0) share += sum_before;
    sum = std::move(share);
    received = std::move(incoming);
  }

  // 4. The last block that was here is that of the next rank.
  if (p == 1) {
    dkv = std::move(sum);
  } else {
    dist.sendrecv(sum, next, dkv, prev);
  }
}

}  // namespace rankbox
