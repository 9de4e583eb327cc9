#include "verdict/tensor_parallel/sequence_parallel.h"

#include "verdict/tensor_parallel/whole_mlp.h"

namespace rankbox {

namespace {

constexpr std::int64_t kIn = 4;
constexpr std::int64_t kOut = 3;

/// The gradient of a bias that is added to these rows.
Tensor gradient_from(const Tensor& rows, std::int64_t width) {
  Tensor sum = full(width, kGradientBefore);
  for (std::int64_t i = 0; i < rows.size(); ++i) sum.data()[i % width] += rows.data()[i];
  return sum;
}

}  // namespace

std::vector<Case> SequenceParallel::cases() const { return cases_by_rows(); }

std::optional<Difference> SequenceParallel::run(Comm& dist, const Case& example) const {
  const int r = dist.rank(), p = dist.world_size();
  const auto rows_of = [=](const Tensor& all) { return row_part(all, r, p); };
  WholeMlp whole(kIn, kOut, p);
  const Tensor x = small_values({p * *example.count, kIn}, "x");
  const Tensor dy = small_values({p * *example.count, kOut}, "dy");
  MlpShard shard(whole, r, p);
  start_gradients(whole.parameters());
  start_gradients(shard.parameters());

  Saved saved;
  Passes actual{rows_of(x), rows_of(dy)};
  function_(dist, shard.block, Direction::kForward, actual.y, saved);
  function_(dist, shard.block, Direction::kBackward, actual.dx, saved);

  MlpShard part(whole, r, p);
  Chain own(part.fc1, part.gelu, part.fc2);
  const BlockCheck check{run_alone(whole.chain, x, dy), run_alone(own, x, dy), whole.fc2.bias.value,
                         p, rows_of};
  if (auto wrong = compare_block(actual, check)) return wrong;
  std::vector<ParameterCheck> parameters = checks_of(shard, whole, r, p);
  parameters.back().guesses = {
      {"that is the gradient of this rank's rows: b is added to all ranks' rows",
       gradient_from(rows_of(dy), kOut)}};
  if (auto wrong = compare_parameters(parameters, kBlockBound, p)) return wrong;
  return compare_saved(saved);
}

std::vector<NativeCall> SequenceParallel::exchanges(const Case& example) const {
  const std::int64_t rows = *example.count, all = rows * example.world_size;
  return {{CollectiveKind::kAllGather, rows * kIn},  // forward
          {CollectiveKind::kReduceScatter, all * kOut},
          {CollectiveKind::kAllGather, rows * kOut},  // backward
          {CollectiveKind::kReduceScatter, all * kIn}};
}

}  // namespace rankbox
