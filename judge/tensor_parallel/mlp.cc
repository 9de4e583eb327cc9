// Judges parallel_mlp and sequence_parallel: both directions, and 20 training steps of the former.
#include <algorithm>

#include "judge/tensor_parallel/mlp_training.h"
#include "judge/training/native_calls.h"
#include "judge/training_families.h"
#include "training/layers/gelu.h"
#include "training/layers/relu.h"

namespace rankbox {

namespace {

constexpr std::int64_t kIn = 4;
constexpr std::int64_t kOut = 3;
constexpr int kSteps = 20;
constexpr const char* kParameters =
    "(Comm& dist, ParallelMlp& shard, Direction direction, Tensor& tensor, Saved& saved)";

std::vector<Case> cases_of_mlp() {
  std::vector<Case> cases = cases_by_rows();
  for (Case& example : cases) example.steps = 0;
  for (const int world_size : mlp_training_sizes())
    cases.push_back({.world_size = world_size, .count = kMlpBatch, .steps = kSteps});
  return cases;
}

/// @param rows of the whole block
std::optional<Difference> run_once(MlpFunction function, Comm& dist, const Case& example,
                                   std::int64_t rows, bool cut_by_rows) {
  Gelu gelu;
  Relu relu;
  Layer& activation = rows % 2 == 0 ? static_cast<Layer&>(relu) : gelu;
  const BlockRun run = {.shape = mlp_shape(kIn, kOut, dist.world_size()),
                        .middle = activation,
                        .own_middle = activation,
                        .x = small_values({rows, kIn}, "x"),
                        .dy = small_values({rows, kOut}, "dy"),
                        .cut_by_rows = cut_by_rows,
                        .two_batches = has_two_batches(example),
                        .gradient_before = gradient_before(*example.count)};
  return compare_block(dist, run,
                       [&](BlockShard& shard, Direction direction, Tensor& tensor, Saved& saved) {
                         ParallelMlp block{shard.first, activation, shard.last, shard.bias};
                         function(dist, block, direction, tensor, saved);
                       });
}

std::optional<Difference> run_mlp(MlpFunction function, Comm& dist, const Case& example) {
  if (*example.steps > 0) return compare_mlp_training(dist, *example.steps, function);
  return run_once(function, dist, example, *example.count, /*cut_by_rows=*/false);
}

std::optional<Difference> run_sequence(MlpFunction function, Comm& dist, const Case& example) {
  return run_once(function, dist, example, dist.world_size() * *example.count,
                  /*cut_by_rows=*/true);
}

NativeCalls calls_of_mlp(const Case& example) {
  const bool trains = *example.steps > 0;
  const std::int64_t in = trains ? kMlpInputs : kIn;
  const std::int64_t out = trains ? kMlpClasses : kOut;
  const NativeCalls forward = {{CollectiveKind::kAllReduce, *example.count * out}};
  const NativeCalls backward = {{CollectiveKind::kAllReduce, *example.count * in}};
  if (has_two_batches(example)) return repeated(2, forward) + repeated(2, backward);
  return repeated(std::max(1, *example.steps), forward + backward);
}

NativeCalls calls_of_sequence(const Case& example) {
  const std::int64_t rows = *example.count, all = rows * example.world_size;
  const NativeCalls forward = {{CollectiveKind::kAllGather, rows * kIn},
                               {CollectiveKind::kReduceScatter, all * kOut}};
  const NativeCalls backward = {{CollectiveKind::kAllGather, rows * kOut},
                                {CollectiveKind::kReduceScatter, all * kIn}};
  const int batches = has_two_batches(example) ? 2 : 1;
  return repeated(batches, forward) + repeated(batches, backward);
}

}  // namespace

Family family::parallel_mlp() {
  return make_family<MlpFunction>(
      "parallel_mlp", kParameters,
      subject_with_calls(cases_of_mlp, calls_of_mlp, {check_of_calls(calls_of_mlp)}), run_mlp);
}

Family family::sequence_parallel() {
  return make_family<MlpFunction>(
      "sequence_parallel", kParameters,
      subject_with_calls([] { return cases_by_rows(); }, calls_of_sequence,
                         {check_of_calls(calls_of_sequence)}),
      run_sequence);
}

}  // namespace rankbox
