// Judges ring_attention_backward: gradients as on one device, messages and bytes of both rings,
// their overlap with arithmetic by the virtual clock, and memory.
#include "parallel/ring_attention_backward.h"

#include <limits>
#include <utility>

#include "judge/long_sequences/ring_clock.h"
#include "judge/long_sequences/sequence.h"
#include "judge/long_sequences/sequence_backward.h"
#include "judge/training_families.h"

namespace rankbox {

namespace {

using Function = decltype(&ring_attention_backward);

/// Returns the bytes of two blocks, of three of gradients (a rank's share, and sums that come and
/// go), and of the sandbox's copies of the two that arrive; of dq; and of the scores of one head and
/// their derivatives.
std::int64_t most_bytes(const SequenceShape& all, int world_size) {
  const std::int64_t tokens = (all.length + world_size - 1) / world_size;
  const std::int64_t rows = tokens * all.row();
  return (7 * 2 * rows + rows + 2 * tokens * tokens) * kElementBytes;
}

std::optional<Difference> run(Function function, Comm& dist, const Case& example) {
  const int p = dist.world_size(), rank = dist.rank();
  const Sequence all = sequence_of(shape_of_ring(example), false);
  const BackwardAlone alone(all);
  const Tokens own = tokens_of_rank(all.shape.length, rank, p);
  const Tensor q = rows_of(all, all.q, own), kv = kv_of(all, own), dy = rows_of(all, all.dy, own);
  const Tensor y = rows_of(all, alone.y, own), log_sum = alone.log_sums_of(own);
  constexpr float kUnwritten = std::numeric_limits<float>::quiet_NaN();
  Tensor dq = full(q.shape(), kUnwritten), dkv = full(kv.shape(), kUnwritten);
  const auto excess = excess_of_memory(
      most_bytes(all.shape, p),
      {"blocks-and-their-gradients",
       "two blocks of keys and values, and three of their gradients: does a rank keep blocks that "
       "it has passed on, or gather those of all tokens?"},
      [&] { function(dist, q, kv, y, log_sum, dy, all.shape.length, dq, dkv); });

  auto wrong = compare_named(
      "dq", dq, alone.dq_of(own, alone.all_tokens()),
      {{{"own-block-alone", "that is what this rank's keys contribute: the others' are missing"},
        [&] { return named("dq", alone.dq_of(own, own)); }}},
      {"dq-of-all-blocks",
       "attend_block_backward adds to dq: it is a sum over all blocks, from 0"});
  if (!wrong) {
    const int next = (rank + 1) % p;
    const auto of = [&](int owner, const Tokens& queries) {
      return named("dkv", alone.dkv_of(tokens_of_rank(all.shape.length, owner, p), queries));
    };
    wrong = compare_named(
        "dkv", dkv, alone.dkv_of(own, alone.all_tokens()),
        {{{"own-share-alone",
           "that is what this rank's queries contribute: those of all ranks do, and their sum "
           "follows the block"},
          [&] { return of(rank, own); }},
         {{"gradients-not-home",
           "those are the gradients of the next rank's keys: after the last step each sum is one "
           "step away from home"},
          [&] { return of(next, alone.all_tokens()); }}},
        {"dkv-of-all-queries",
         "the sum over all ranks' queries: does what the rank before has added up come before your "
         "own share is added, and for the same block?"});
  }
  return wrong ? wrong : excess;
}

/// Keys and values travel before all steps but the first, their gradients after all.
RingClock clock_of(const Case& example) {
  const SequenceShape shape = shape_of_ring(example);
  const int p = example.world_size;
  const auto tokens = [=](int rank, int step) {
    return tokens_of(shape.length, ((rank - step) % p + p) % p, p);
  };
  return {.world_size = p,
          .steps = p == 1 ? 1 : p + 1,
          .seconds =
              [=](int rank, int step) {
                if (step == p) return 0.0;
                return attention_backward_seconds(tokens(rank, 0) * tokens(rank, step), shape.heads,
                                                  shape.width);
              },
          .messages =
              [=](int rank, int step) {
                const std::int64_t row = 2 * shape.row() * kElementBytes;
                std::vector<std::int64_t> bytes;
                if (step + 1 < p) bytes.push_back(tokens(rank, step) * row);
                if (step > 0) bytes.push_back(tokens(rank, step - 1) * row);
                return bytes;
              }};
}

}  // namespace

Family family::ring_attention_backward() {
  Subject subject = {.cases = cases_of_ring,
                     .large_cases = {{.world_size = kRanksOfMemory, .count = kLargeLength}},
                     .checks = checks_of_ring(clock_of),
                     .limits_memory = true,
                     .cluster = cluster_of_ring(),
                     .count_to_show = 64,
                     .remark = remark_on_ring(clock_of, {.world_size = 8, .count = 128})};
  return make_family<Function>(
      "ring_attention_backward",
      "(Comm& dist, const Tensor& q, const Tensor& kv, const Tensor& y, const Tensor& log_sum, "
      "const Tensor& dy, std::int64_t length, Tensor& dq, Tensor& dkv)",
      subject, run);
}

}  // namespace rankbox
