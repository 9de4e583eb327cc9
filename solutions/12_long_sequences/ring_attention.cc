#include "parallel/ring_attention.h"

#include <utility>
#include <vector>

namespace rankbox {

namespace {

void merge(AttentionPart& all, AttentionPart part) {
  const Tensor larger = maximum(all.maximum, part.maximum);
  rescale(all, larger);
  rescale(part, larger);
  all.sum += part.sum;
  all.weighted += part.weighted;
}

}  // namespace

void ring_attention(Comm& dist, const Tensor& q, const Tensor& kv, std::int64_t length, Tensor& y) {
  const int p = dist.world_size();
  const int rank = dist.rank();
  const int next = (rank + 1) % p;
  const int prev = (rank + p - 1) % p;

  AttentionPart all;
  Tensor received;  // in the step before
  for (int step = 0; step < p; ++step) {
    const Tensor& here = step == 0 ? kv : received;

    // 1. The block goes on, and the one that prev has comes: it began at rank - step - 1.
    Tensor incoming;
    std::vector<Request> requests;
    if (step + 1 < p) {
      incoming = empty_kv(kv, tokens_of(length, (rank - step - 1 + p) % p, p));
      requests = {dist.isend(here, next), dist.irecv(incoming, prev)};
    }

    // 2. Meanwhile, attention to this block.
    AttentionPart part = attend_block(dist, q, here);
    if (step == 0) {
      all = std::move(part);
    } else {
      merge(all, std::move(part));
    }

    // 3. Only now may the block be dropped.
    dist.wait_all(requests);
    received = std::move(incoming);
  }
  y = normalized(std::move(all));
}

}  // namespace rankbox
