// Decides by the rank that sent the keys; the first step, in which a rank meets its own, apart.
#include <utility>

#include "parallel/ring_attention_causal_zigzag.h"

namespace rankbox {

namespace {

void add(AttentionPart& sum, AttentionPart more) {
  const Tensor both = maximum(more.maximum, sum.maximum);
  rescale(more, both);
  rescale(sum, both);
  more.weighted += sum.weighted;
  more.sum += sum.sum;
  sum = std::move(more);
}

}  // namespace

void ring_attention_causal_zigzag(Comm& dist, const Tensor& q, const Tensor& kv,
                                  std::int64_t length, Tensor& y) {
  const int p = dist.world_size(), rank = dist.rank();
  const std::int64_t tokens = zigzag_chunk(length, p);
  Tensor early_q = row_part(q, 0, 2), late_q = row_part(q, 1, 2);
  AttentionPart early, late;
  Tensor here = clone(kv);
  for (int step = 0; step < p; ++step) {
    const bool travels = step + 1 < p;
    Tensor next_kv;
    Request comes, goes;
    if (travels) {
      next_kv = Tensor({4, tokens, q.shape().extents()[1], q.shape().extents()[2]});
      comes = dist.irecv(next_kv, (rank + p - 1) % p);
      goes = dist.isend(here, (rank + 1) % p);
    }
    Tensor keys = row_part(here, 0, 2);
    const int source = (rank + p - step) % p;
    if (source == rank) {
      early = attend_block(dist, early_q, keys, Mask::kCausal);
      late = attend_block(dist, late_q, keys);
      keys = row_part(here, 1, 2);
      add(late, attend_block(dist, late_q, keys, Mask::kCausal));
    } else {
      add(late, attend_block(dist, late_q, keys));
      if (source < rank) add(early, attend_block(dist, early_q, keys));
      if (source > rank) {
        keys = row_part(here, 1, 2);
        add(late, attend_block(dist, late_q, keys));
      }
    }
    if (travels) dist.wait_all({comes, goes});
    here = std::move(next_kv);
  }
  copy(chunk(y, 0, 2), normalized(std::move(early)));
  copy(chunk(y, 1, 2), normalized(std::move(late)));
}

}  // namespace rankbox
