#include "parallel/ring_attention_causal_zigzag.h"

#include <array>
#include <utility>
#include <vector>

namespace rankbox {

namespace {

/// The numbers of the early and the late chunk of a rank.
std::array<int, 2> chunks_of(int rank, int world_size) { return {rank, 2 * world_size - 1 - rank}; }

void merge(AttentionPart& all, AttentionPart part) {
  const Tensor larger = maximum(all.maximum, part.maximum);
  rescale(all, larger);
  rescale(part, larger);
  all.sum += part.sum;
  all.weighted += part.weighted;
}

}  // namespace

void ring_attention_causal_zigzag(Comm& dist, const Tensor& q, const Tensor& kv,
                                  std::int64_t length, Tensor& y) {
  const int p = dist.world_size();
  const int rank = dist.rank();
  (void)zigzag_chunk(length, p);  // throws for a length that 2p does not divide

  // 1. Both chunks of queries, and what they have seen: nothing yet.
  const std::array<int, 2> own = chunks_of(rank, p);
  const std::array<Tensor, 2> queries = {row_part(q, 0, 2), row_part(q, 1, 2)};
  const Tensor no_kv = empty_kv(kv, 0);
  std::array<AttentionPart, 2> seen = {attend_block(dist, queries[0], no_kv),
                                       attend_block(dist, queries[1], no_kv)};

  Tensor received;
  for (int step = 0; step < p; ++step) {
    const Tensor& here = step == 0 ? kv : received;

    // 2. The block goes on, and the next one comes.
    Tensor incoming;
    std::vector<Request> requests;
    if (step + 1 < p) {
      incoming = empty_like(kv);
      requests = {dist.isend(here, (rank + 1) % p), dist.irecv(incoming, (rank + p - 1) % p)};
    }

    // 3. Meanwhile, chunks of queries meet those of the keys that are not later.
    const std::array<int, 2> theirs = chunks_of((rank - step + p) % p, p);
    for (int k = 0; k < 2; ++k) {
      if (theirs[k] > own[1]) continue;
      const Tensor keys = row_part(here, k, 2);
      for (int i = 0; i < 2; ++i) {
        if (theirs[k] > own[i]) continue;
        const Mask mask = theirs[k] == own[i] ? Mask::kCausal : Mask::kNone;
        merge(seen[i], attend_block(dist, queries[i], keys, mask));
      }
    }
    dist.wait_all(requests);
    received = std::move(incoming);
  }
  copy(chunk(y, 0, 2), normalized(std::move(seen[0])));
  copy(chunk(y, 1, 2), normalized(std::move(seen[1])));
}

}  // namespace rankbox
