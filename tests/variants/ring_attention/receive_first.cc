// Each receive is started before its send, and waited for before parts are merged.
#include <utility>

#include "parallel/ring_attention.h"

namespace rankbox {

void ring_attention(Comm& dist, const Tensor& q, const Tensor& kv, std::int64_t length, Tensor& y) {
  const int p = dist.world_size();
  Tensor here = clone(kv);
  AttentionPart all;
  for (int step = 0; step < p; ++step) {
    const bool is_last = step + 1 == p;
    Tensor there;
    Request comes, goes;
    if (!is_last) {
      const int source = (dist.rank() - step - 1 + p) % p;
      there = empty_kv(kv, tokens_of(length, source, p));
      comes = dist.irecv(there, (dist.rank() + p - 1) % p);
      goes = dist.isend(here, (dist.rank() + 1) % p);
    }
    AttentionPart part = attend_block(dist, q, here);
    if (!is_last) dist.wait(comes);
    if (step > 0) {
      const Tensor both = maximum(part.maximum, all.maximum);
      rescale(part, both);
      rescale(all, both);
      part.weighted += all.weighted;
      part.sum += all.sum;
    }
    all = std::move(part);
    if (!is_last) dist.wait(goes);
    here = std::move(there);
  }
  y = normalized(std::move(all));
}

}  // namespace rankbox
