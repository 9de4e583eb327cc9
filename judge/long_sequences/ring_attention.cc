// Judges ring_attention: values as on one device, messages and bytes of the ring, their overlap
// with the blocks' arithmetic by the virtual clock, and the memory of two blocks.
#include "parallel/ring_attention.h"

#include <limits>

#include "judge/long_sequences/ring_clock.h"
#include "judge/long_sequences/sequence.h"
#include "judge/training_families.h"

namespace rankbox {

namespace {

using Function = decltype(&ring_attention);

/// Returns the bytes of two blocks, and of the sandbox's copy of one that arrives; of the weighted
/// values of all blocks, of the last and of both together; and of the scores of one head.
std::int64_t most_bytes(const SequenceShape& all, int world_size) {
  const std::int64_t tokens = (all.length + world_size - 1) / world_size;
  const std::int64_t rows = tokens * all.row();
  return (3 * 2 * rows + 3 * rows + 6 * tokens * all.heads + tokens * tokens) * kElementBytes;
}

std::optional<Difference> run(Function function, Comm& dist, const Case& example) {
  const int p = dist.world_size(), rank = dist.rank();
  const Sequence all = sequence_of(shape_of_ring(example));
  const Tokens own = tokens_of_rank(all.shape.length, rank, p);
  const Tensor q = rows_of(all, all.q, own);
  const Tensor kv = kv_of(all, own);
  Tensor y = full(q.shape(), std::numeric_limits<float>::quiet_NaN());
  const auto excess = excess_of_memory(
      most_bytes(all.shape, p),
      {"two-blocks-at-a-time",
       "two blocks of keys and values, and parts as large as q: does a rank gather those of all "
       "tokens, or keep blocks that it has passed on?"},
      [&] { function(dist, q, kv, all.shape.length, y); });

  AttentionAlone alone{all, {}};
  for (int other = 0; other < p; ++other)
    alone.blocks.push_back(tokens_of_rank(all.shape.length, other, p));
  auto wrong = compare_y(
      y, alone.y_of(own),
      {{{"own-block-alone",
         "that is attention to this rank's keys alone: the others' blocks are missing"},
        [&] {
          return named_y(AttentionAlone{all, {own}}.y_of(own));
        }},
       {{"parts-not-rescaled",
         "that is the parts as they are, each relative to the maximum of its block: rescale both "
         "to "
         "the larger one, add, and divide once, at the end"},
        [&] { return named_y(alone.y_of(own, false)); }}},
      {"attention-to-all-tokens",
       "attention to the keys of all ranks: does every block come to every query once, and do "
       "parts "
       "with different maxima become one?"});
  return wrong ? wrong : excess;
}

/// All ranks have the same turns: a block in each step.
RingClock clock_of(const Case& example) {
  const SequenceShape shape = shape_of_ring(example);
  const int p = example.world_size;
  const auto tokens = [=](int rank) { return tokens_of(shape.length, rank, p); };
  const auto source = [=](int rank, int step) { return (rank - step + p) % p; };
  return {.world_size = p,
          .steps = p,
          .seconds =
              [=](int rank, int step) {
                return attention_seconds(tokens(rank) * tokens(source(rank, step)), shape.heads,
                                         shape.width);
              },
          .messages =
              [=](int rank, int step) {
                std::vector<std::int64_t> bytes;
                if (step + 1 < p)
                  bytes = {2 * tokens(source(rank, step)) * shape.row() * kElementBytes};
                return bytes;
              }};
}

}  // namespace

Family family::ring_attention() {
  Subject subject = {.cases = cases_of_ring,
                     .large_cases = {{.world_size = kRanksOfMemory, .count = kLargeLength}},
                     .checks = checks_of_ring(clock_of),
                     .limits_memory = true,
                     .cluster = cluster_of_ring(),
                     .count_to_show = 64,
                     .remark = remark_on_ring(clock_of, {.world_size = 8, .count = 128})};
  return make_family<Function>(
      "ring_attention",
      "(Comm& dist, const Tensor& q, const Tensor& kv, std::int64_t length, Tensor& y)", subject,
      run);
}

}  // namespace rankbox
