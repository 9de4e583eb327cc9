// Two tensors that change roles; merging begins with a part of no keys.
#include <array>
#include <utility>

#include "parallel/ring_attention.h"

namespace rankbox {

void ring_attention(Comm& dist, const Tensor& q, const Tensor& kv, std::int64_t length, Tensor& y) {
  const int p = dist.world_size(), rank = dist.rank();
  std::array<Tensor, 2> blocks = {clone(kv), Tensor()};
  AttentionPart all = attend_block(dist, q, empty_kv(kv, 0));
  for (int step = 0; step < p; ++step) {
    Tensor& here = blocks[static_cast<std::size_t>(step % 2)];
    Tensor& there = blocks[static_cast<std::size_t>((step + 1) % 2)];
    const bool sends = step != p - 1;
    Request out, in;
    if (sends) {
      there = empty_kv(kv, tokens_of(length, (rank - step - 1 + p) % p, p));
      in = dist.irecv(there, (rank + p - 1) % p);
      out = dist.isend(here, (rank + 1) % p);
    }
    AttentionPart part = attend_block(dist, q, here);
    const Tensor larger = maximum(all.maximum, part.maximum);
    rescale(all, larger);
    rescale(part, larger);
    all.weighted += part.weighted;
    all.sum += part.sum;
    if (sends) dist.wait_all({in, out});
  }
  copy(y, normalized(std::move(all)));
}

}  // namespace rankbox
