#include "parallel/ulysses.h"

#include <utility>

namespace rankbox {

void ulysses(Comm& dist, const Tensor& q, const Tensor& k, const Tensor& v, Tensor& y) {
  const int p = dist.world_size();
  const std::int64_t tokens = q.shape().extents()[0];
  const std::int64_t width = q.shape().extents()[2];
  const std::int64_t heads = heads_of_rank(q, p);

  // 1. All tokens of this rank's heads.
  Tensor all_q({tokens * p, heads, width});
  Tensor all_kv({2, tokens * p, heads, width});
  dist.all_to_all(swapped(q, tokens, p), all_q);
  dist.all_to_all(swapped(k, tokens, p), chunk(all_kv, 0, 2));
  dist.all_to_all(swapped(v, tokens, p), chunk(all_kv, 1, 2));

  // 2. Their attention.
  const Tensor all_y = normalized(attend_block(dist, all_q, all_kv));

  // 3. All heads of this rank's tokens: they come by rank, and so by heads.
  Tensor by_heads(q.shape());
  dist.all_to_all(all_y, by_heads);
  copy(y, swapped(by_heads, p, tokens));
}

}  // namespace rankbox
