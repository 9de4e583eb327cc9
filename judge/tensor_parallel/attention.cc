// Judges parallel_attention: both directions, with texts of different lengths.
#include "judge/tensor_parallel/block.h"
#include "judge/training/native_calls.h"
#include "judge/training_families.h"
#include "parallel/parallel_attention.h"

namespace rankbox {

namespace {

using Function = decltype(&parallel_attention);

constexpr std::int64_t kWidth = 4;
constexpr std::int64_t kLength = 3;
constexpr std::int64_t kHeadWidth = 2;

/// Worlds of odd size have two heads per rank, even ones one, and one world has many.
std::int64_t heads_of(int world_size) {
  return world_size * (world_size == 3 ? 12 : world_size % 2 + 1);
}

/// Some texts are shorter than others.
Pass pass_of(std::int64_t batch) {
  Pass pass;
  for (std::int64_t i = 0; i < batch; ++i)
    pass.lengths.push_back(static_cast<std::int32_t>(kLength - i % kLength));
  return pass;
}

std::optional<Difference> run(Function function, Comm& dist, const Case& example) {
  const std::int64_t heads = heads_of(dist.world_size());
  const std::int64_t inner = heads * kHeadWidth;
  Attention attention(heads);
  Attention own_attention(heads / dist.world_size());
  const BlockRun run = {.shape = {"qkv", "out", kWidth, 3 * inner, inner, kWidth},
                        .middle = attention,
                        .own_middle = own_attention,
                        .x = small_values({*example.count, kLength, kWidth}, "x"),
                        .dy = small_values({*example.count, kLength, kWidth}, "dy"),
                        .pass = pass_of(*example.count),
                        .two_batches = has_two_batches(example),
                        .gradient_before = gradient_before(*example.count)};
  return compare_block(dist, run,
                       [&](BlockShard& shard, Direction direction, Tensor& tensor, Saved& saved) {
                         ParallelAttention block{shard.first, shard.last, shard.bias, heads};
                         function(dist, block, direction, tensor, saved);
                       });
}

NativeCalls calls(const Case& example) {
  const NativeCall one = {CollectiveKind::kAllReduce, *example.count * kLength * kWidth};
  return repeated(has_two_batches(example) ? 2 : 1, {one, one});  // forward, backward
}

}  // namespace

Family family::parallel_attention() {
  return make_family<Function>(
      "parallel_attention",
      "(Comm& dist, ParallelAttention& shard, Direction direction, Tensor& tensor, Saved& saved)",
      subject_with_calls([] { return cases_by_rows(); }, calls, {check_of_calls(calls)}), run);
}

}  // namespace rankbox
