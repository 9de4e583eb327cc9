// Early keys meet all of the rank's queries at once, late keys the late ones.
#include <cstdint>
#include <utility>

#include "parallel/ring_attention_causal_zigzag.h"

namespace rankbox {

namespace {

void merge(AttentionPart& all, AttentionPart part) {
  const Tensor larger = maximum(all.maximum, part.maximum);
  rescale(all, larger);
  rescale(part, larger);
  all.sum += part.sum;
  all.weighted += part.weighted;
}

/// Merges the part of both chunks of queries.
void merge_both(AttentionPart& early, AttentionPart& late, const AttentionPart& both) {
  merge(early,
        {row_part(both.weighted, 0, 2), row_part(both.maximum, 0, 2), row_part(both.sum, 0, 2)});
  merge(late,
        {row_part(both.weighted, 1, 2), row_part(both.maximum, 1, 2), row_part(both.sum, 1, 2)});
}

}  // namespace

void ring_attention_causal_zigzag(Comm& dist, const Tensor& q, const Tensor& kv,
                                  std::int64_t length, Tensor& y) {
  const int p = dist.world_size(), rank = dist.rank();
  (void)zigzag_chunk(length, p);
  const Tensor late_q = row_part(q, 1, 2);
  Tensor received;
  AttentionPart early, late;
  for (int step = 0; step < p; ++step) {
    const Tensor& here = step == 0 ? kv : received;
    Tensor incoming;
    Request in, out;
    if (step + 1 < p) {
      incoming = empty_like(here);
      out = dist.isend(here, (rank + 1) % p);
      in = dist.irecv(incoming, (rank + p - 1) % p);
    }
    const Tensor early_kv = row_part(here, 0, 2);
    if (step == 0) {
      early = attend_block(dist, row_part(q, 0, 2), early_kv, Mask::kCausal);
      late = attend_block(dist, late_q, row_part(here, 1, 2), Mask::kCausal);
      merge(late, attend_block(dist, late_q, early_kv));
    } else if ((rank - step + p) % p < rank) {
      merge_both(early, late, attend_block(dist, q, early_kv));
    } else {
      merge(late, attend_block(dist, late_q, early_kv));
      merge(late, attend_block(dist, late_q, row_part(here, 1, 2)));
    }
    if (step + 1 < p) dist.wait_all({in, out});
    received = std::move(incoming);
  }
  copy(chunk(y, 0, 2), normalized(std::move(early)));
  copy(chunk(y, 1, 2), normalized(std::move(late)));
}

}  // namespace rankbox
