// All three exchanges are started before one is waited for.
#include <utility>

#include "parallel/ulysses.h"

namespace rankbox {

void ulysses(Comm& dist, const Tensor& q, const Tensor& k, const Tensor& v, Tensor& y) {
  const int p = dist.world_size();
  const std::int64_t own = q.shape().extents()[0], heads = heads_of_rank(q, p),
                     width = q.shape().extents()[2];
  Tensor kv({2, own * p, heads, width});
  Tensor queries({own * p, heads, width});
  const Tensor ks = swapped(k, own, p), vs = swapped(v, own, p), qs = swapped(q, own, p);
  const Request of_k = dist.all_to_all_async(ks, chunk(kv, 0, 2));
  const Request of_v = dist.all_to_all_async(vs, chunk(kv, 1, 2));
  const Request of_q = dist.all_to_all_async(qs, queries);
  dist.wait_all({of_k, of_v, of_q});
  const Tensor result = normalized(attend_block(dist, queries, kv));
  Tensor back = empty_like(q);
  dist.wait(dist.all_to_all_async(result, back));
  copy(y, swapped(back, p, own));
}

}  // namespace rankbox
