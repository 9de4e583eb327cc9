// Judges ring_attention_causal_zigzag: values as on one device, messages and bytes of the ring,
// equal work on all ranks and its overlap by the virtual clock, and the memory of two blocks.
#include "parallel/ring_attention_causal_zigzag.h"

#include <limits>
#include <utility>

#include "judge/case_lists.h"
#include "judge/long_sequences/ring_clock.h"
#include "judge/long_sequences/sequence.h"
#include "judge/salt.h"
#include "judge/training_families.h"

namespace rankbox {

namespace {

using Function = decltype(&ring_attention_causal_zigzag);

std::vector<Case> cases() {
  std::vector<Case> cases;
  for (const int p : world_sizes()) {
    const auto drawn_tokens = drawn("tokens of a chunk", 3, 3, 6);
    // Chunks that take less time than their messages, and chunks that take more.
    for (const std::int64_t tokens :
         {std::int64_t{0}, std::int64_t{1}, drawn_tokens, std::int64_t{8}}) {
      const Case example = {.world_size = p, .count = 2 * p * tokens};
      const bool is_large = p == kRanksOfMemory && example.count == kLargeLength;
      if (!is_large) cases.push_back(example);
    }
    if (p == kRanksOfMemory) cases.push_back({.world_size = p, .count = kWideLength});
  }
  return cases;
}

Tokens tokens_in(std::int64_t length, int chunk, int world_size) {
  const std::int64_t tokens = length / (2 * world_size);
  return tokens_between(chunk * tokens, (chunk + 1) * tokens);
}

/// The tokens of two chunks.
Tokens tokens_in(std::int64_t length, int first, int second, int world_size) {
  Tokens tokens = tokens_in(length, first, world_size);
  const Tokens more = tokens_in(length, second, world_size);
  tokens.insert(tokens.end(), more.begin(), more.end());
  return tokens;
}

/// Returns the bytes of two blocks, and of the sandbox's copy of one that arrives; of copies of
/// half a block and of the queries; of the parts of both chunks and of the one at work; and of the
/// scores of one head.
std::int64_t most_bytes(const SequenceShape& all, int world_size) {
  const std::int64_t tokens = all.length / world_size;
  const std::int64_t rows = tokens * all.row();
  return (3 * 2 * rows + 2 * rows + 3 * rows + 6 * tokens * all.heads + tokens * tokens) *
         kElementBytes;
}

std::optional<Difference> run(Function function, Comm& dist, const Case& example) {
  const int p = dist.world_size(), rank = dist.rank(), late = 2 * p - 1 - rank;
  const Sequence all = sequence_of(shape_of_ring(example));
  const std::int64_t length = all.shape.length;
  const Tokens own = tokens_in(length, rank, late, p);
  const Tensor q = rows_of(all, all.q, own);
  Tensor kv({4, length / (2 * p), all.shape.heads, all.shape.width});
  copy(chunk(kv, 0, 2), kv_of(all, tokens_in(length, rank, p)));
  copy(chunk(kv, 1, 2), kv_of(all, tokens_in(length, late, p)));
  Tensor y = full(q.shape(), std::numeric_limits<float>::quiet_NaN());
  const auto excess = excess_of_memory(
      most_bytes(all.shape, p),
      {"two-blocks-at-a-time",
       "two blocks of keys and values, copies of the chunks at work, and parts as large as q: does "
       "a rank gather those of all tokens, or keep blocks that it has passed on?"},
      [&] { function(dist, q, kv, length, y); });

  AttentionAlone alone{all, {}, true};
  for (int chunk = 0; chunk < 2 * p; ++chunk) alone.blocks.push_back(tokens_in(length, chunk, p));
  const auto y_of = [&](const std::vector<Tokens>& blocks, bool is_causal) {
    return [&, blocks, is_causal] {
      return named_y(AttentionAlone{all, blocks, is_causal}.y_of(own));
    };
  };
  auto wrong = compare_y(
      y, alone.y_of(own),
      {{{"no-mask", "that is attention to all tokens: a token attends to none after it"},
        y_of(alone.blocks, false)},
       {{"own-block-alone",
         "that is attention to this rank's keys alone: the others' blocks are missing"},
        y_of({own}, true)},
       {{"parts-not-rescaled",
         "that is the parts as they are, each relative to the maximum of its block: rescale both "
         "to "
         "the larger one, add, and divide once, at the end"},
        [&] { return named_y(alone.y_of(own, false)); }}},
      {"attention-to-earlier-tokens",
       "attention to the keys of the same token and of those before it: compare the numbers of the "
       "chunks, and mask where a chunk meets itself"});
  return wrong ? wrong : excess;
}

/// In the first step a rank's chunks meet themselves and each other; in every other one, two pairs
/// of chunks.
RingClock clock_of(const Case& example) {
  const SequenceShape shape = shape_of_ring(example);
  const int p = example.world_size;
  const std::int64_t tokens = shape.length / (2 * p);
  return {.world_size = p,
          .steps = p,
          .seconds =
              [=](int /*rank*/, int step) {
                const std::int64_t pairs =
                    2 * tokens * tokens + (step == 0 ? tokens : std::int64_t{0});
                return attention_seconds(pairs, shape.heads, shape.width);
              },
          .messages =
              [=](int /*rank*/, int step) {
                std::vector<std::int64_t> bytes;
                if (step + 1 < p) bytes = {4 * tokens * shape.row() * kElementBytes};
                return bytes;
              }};
}

}  // namespace

Family family::ring_attention_causal_zigzag() {
  Subject subject = {.cases = cases,
                     .large_cases = {{.world_size = kRanksOfMemory, .count = kLargeLength}},
                     .checks = checks_of_ring(clock_of),
                     .limits_memory = true,
                     .cluster = cluster_of_ring(),
                     .count_to_show = 64,
                     .remark = remark_on_ring(clock_of, {.world_size = 8, .count = 128})};
  return make_family<Function>(
      "ring_attention_causal_zigzag",
      "(Comm& dist, const Tensor& q, const Tensor& kv, std::int64_t length, Tensor& y)", subject,
      run);
}

}  // namespace rankbox
