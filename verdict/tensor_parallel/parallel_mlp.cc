#include "verdict/tensor_parallel/parallel_mlp.h"

#include "verdict/tensor_parallel/mlp_training.h"
#include "verdict/tensor_parallel/whole_mlp.h"

namespace rankbox {

namespace {

constexpr std::int64_t kIn = 4;
constexpr std::int64_t kOut = 3;
constexpr int kSteps = 20;

}  // namespace

std::vector<Case> ParallelMlpBlock::cases() const {
  std::vector<Case> cases = cases_by_rows();
  for (Case& example : cases) example.steps = 0;
  for (const int world_size : mlp_training_sizes()) {
    Case example;
    example.world_size = world_size;
    example.count = kMlpBatch;
    example.steps = kSteps;
    cases.push_back(example);
  }
  return cases;
}

std::optional<Difference> ParallelMlpBlock::run(Comm& dist, const Case& example) const {
  const int r = dist.rank(), p = dist.world_size();
  if (*example.steps > 0) return compare_mlp_training(dist, *example.steps, function_);

  WholeMlp whole(kIn, kOut, p);
  const Tensor x = small_values({*example.count, kIn}, "x");
  const Tensor dy = small_values({*example.count, kOut}, "dy");
  MlpShard shard(whole, r, p);
  start_gradients(whole.parameters());
  start_gradients(shard.parameters());

  Saved saved;
  Passes actual{clone(x), clone(dy)};
  function_(dist, shard.block, Direction::kForward, actual.y, saved);
  function_(dist, shard.block, Direction::kBackward, actual.dx, saved);

  MlpShard part(whole, r, p);
  Chain own(part.fc1, part.gelu, part.fc2);
  const BlockCheck check{run_alone(whole.chain, x, dy), run_alone(own, x, dy), whole.fc2.bias.value,
                         p};
  if (auto wrong = compare_block(actual, check)) return wrong;
  if (auto wrong = compare_parameters(checks_of(shard, whole, r, p), kBlockBound, p)) return wrong;
  return compare_saved(saved);
}

std::vector<NativeCall> ParallelMlpBlock::exchanges(const Case& example) const {
  const bool trains = *example.steps > 0;
  const std::int64_t in = trains ? kMlpInputs : kIn;
  const std::int64_t out = trains ? kMlpClasses : kOut;
  std::vector<NativeCall> all;
  for (int pass = 0; pass < std::max(1, *example.steps); ++pass) {
    all.push_back({CollectiveKind::kAllReduce, *example.count * out});  // forward
    all.push_back({CollectiveKind::kAllReduce, *example.count * in});   // backward
  }
  return all;
}

}  // namespace rankbox
