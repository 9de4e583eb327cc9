// Judges ulysses: values as on one device, and four all-to-alls.
#include "parallel/ulysses.h"

#include <limits>
#include <utility>

#include "judge/case_lists.h"
#include "judge/long_sequences/sequence.h"
#include "judge/salt.h"
#include "judge/training/native_calls.h"
#include "judge/training_families.h"

namespace rankbox {

namespace {

using Function = decltype(&ulysses);

constexpr std::int64_t kHeadWidth = 2;

/// Worlds of odd size have two heads per rank, even ones one, and one world has many.
std::int64_t heads_of_world(int world_size) {
  return world_size * (world_size == 3 ? 4 : world_size % 2 + 1);
}

std::vector<Case> cases() {
  std::vector<Case> some;
  for (const std::int64_t tokens : {0, 1, 2, 5}) some.push_back({.count = tokens});
  if (salt() != 0) some.push_back({.count = drawn("tokens", 0, 6, 12)});
  return cases_with_each(some);
}

std::optional<Difference> run(Function function, Comm& dist, const Case& example) {
  const int p = dist.world_size(), rank = dist.rank();
  const std::int64_t tokens = *example.count, heads = heads_of_world(p);
  const Sequence all = sequence_of({tokens * p, heads, kHeadWidth});
  const Tokens own = tokens_between(tokens * rank, tokens * (rank + 1));
  const Tensor q = rows_of(all, all.q, own);
  const Tensor k = rows_of(all, all.k, own);
  const Tensor v = rows_of(all, all.v, own);
  Tensor y = full(q.shape(), std::numeric_limits<float>::quiet_NaN());
  function(dist, q, k, v, y);

  const AttentionAlone alone = {all, {tokens_between(0, tokens * p)}};
  const auto heads_by_rank = [&] {
    Tensor flat = swapped(alone.y_of(own), tokens, p);
    return std::vector<NamedTensor>{{"y", from_host(to_host(flat), q.shape())}};
  };
  return compare_y(
      y, alone.y_of(own),
      {{{"own-tokens-alone",
         "that is attention to this rank's tokens alone: all_to_all brings "
         "those of all ranks, for some heads"},
        [&] {
          return named_y(AttentionAlone{all, {own}}.y_of(own));
        }},
       {{"heads-in-order-of-ranks",
         "y is right, in another order: the last all_to_all brings all tokens of rank 0's heads, "
         "then those of rank 1's; a row of y has all heads of one token"},
        heads_by_rank}},
      {"attention-of-whole-heads",
       "attention of every head over all ranks' tokens: is chunk d of each input the heads of rank "
       "d, for all of this rank's tokens?"});
}

NativeCalls calls(const Case& example) {
  const std::int64_t elements = *example.count * heads_of_world(example.world_size) * kHeadWidth;
  return calls_of(CollectiveKind::kAllToAll, {elements, elements, elements, elements});
}

}  // namespace

Family family::ulysses() {
  return make_family<Function>(
      "ulysses", "(Comm& dist, const Tensor& q, const Tensor& k, const Tensor& v, Tensor& y)",
      subject_with_calls(cases, calls, {check_of_calls(calls)}), run);
}

}  // namespace rankbox
