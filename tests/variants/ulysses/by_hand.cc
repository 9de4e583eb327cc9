// Pieces are put in order by copies of slices, a token and a rank at a time.
#include "parallel/ulysses.h"

namespace rankbox {

namespace {

/// The heads for each rank, one rank after the other.
Tensor in_order_of_ranks(const Tensor& rows, int p) {
  Tensor sorted(rows.size());
  const std::int64_t tokens = rows.shape().extents()[0];
  for (int r = 0; r < p; ++r) {
    for (std::int64_t t = 0; t < tokens; ++t) {
      const std::int64_t piece = rows.size() / tokens / p;
      const std::int64_t from = (t * p + r) * piece, to = (r * tokens + t) * piece;
      copy(Slice(sorted).sub(to, to + piece), Slice(rows).sub(from, from + piece));
    }
  }
  return sorted;
}

}  // namespace

void ulysses(Comm& dist, const Tensor& q, const Tensor& k, const Tensor& v, Tensor& y) {
  const int p = dist.world_size();
  const std::int64_t tokens = q.shape().extents()[0];
  const Shape mine = {tokens * p, heads_of_rank(q, p), q.shape().extents()[2]};
  Tensor all_q(mine), all_kv({2, mine.extents()[0], mine.extents()[1], mine.extents()[2]});
  dist.all_to_all(in_order_of_ranks(k, p), chunk(all_kv, 0, 2));
  dist.all_to_all(in_order_of_ranks(v, p), chunk(all_kv, 1, 2));
  dist.all_to_all(in_order_of_ranks(q, p), all_q);
  all_q = normalized(attend_block(dist, all_q, all_kv));
  Tensor back(q.size());
  dist.all_to_all(all_q, back);
  for (int r = 0; r < p; ++r) {
    const Slice heads = chunk(back, r, p);
    for (std::int64_t t = 0; t < tokens; ++t) {
      const std::int64_t piece = heads.size() / tokens, to = (t * p + r) * piece;
      copy(Slice(y).sub(to, to + piece), heads.sub(t * piece, (t + 1) * piece));
    }
  }
}

}  // namespace rankbox
