#include "verdict/tensor_parallel/mlp_training.h"

#include <fmt/format.h>

#include "training/cross_entropy.h"
#include "training/sgd.h"
#include "verdict/data_parallel/small_training.h"

namespace rankbox {

namespace {

constexpr SgdOptions kSgd = {.learning_rate = 0.1, .momentum = 0.5};

// Whatever the number of ranks.
Batch batch_of(int step) {
  return small_batch(static_cast<int>(kMlpBatch / kSamplesPerRank), step);
}

}  // namespace

std::vector<int> mlp_training_sizes() { return {1, 2, 3, 4, 5, 8, 13}; }

void train_mlp_alone(WholeMlp& model, int steps) {
  Sgd optimizer(model.parameters(), kSgd);
  for (int step = 0; step < steps; ++step) {
    zero_gradients(model.parameters());
    const Batch batch = batch_of(step);
    Saved saved(batch.pass(Mode::kTraining));
    Loss loss = cross_entropy(model.chain.forward(batch.x, saved), batch.labels);
    model.chain.backward(std::move(loss.gradient), saved);
    optimizer.step();
  }
}

std::optional<Difference> compare_mlp_training(Comm& dist, int steps,
                                               void (*block)(Comm& dist, ParallelMlp& shard,
                                                             Direction direction, Tensor& tensor,
                                                             Saved& saved)) {
  const int r = dist.rank(), p = dist.world_size();
  WholeMlp alone(kMlpInputs, kMlpClasses, p);
  MlpShard shard(alone, r, p);
  Sgd optimizer(shard.parameters(), kSgd);
  for (int step = 0; step < steps; ++step) {
    zero_gradients(shard.parameters());
    const Batch batch = batch_of(step);
    Saved saved(batch.pass(Mode::kTraining));
    Tensor tensor = batch.x;
    block(dist, shard.block, Direction::kForward, tensor, saved);
    tensor = cross_entropy(tensor, batch.labels).gradient;
    block(dist, shard.block, Direction::kBackward, tensor, saved);
    optimizer.step();
  }

  train_mlp_alone(alone, steps);
  const MlpShard expected(alone, r, p);
  const std::pair<const Parameter*, const Parameter*> all[] = {
      {&shard.fc1.weight, &expected.fc1.weight},
      {&shard.fc1.bias, &expected.fc1.bias},
      {&shard.fc2.weight, &expected.fc2.weight},
      {&shard.bias, &expected.bias}};
  const char* const names[] = {"shard.fc1.weight", "shard.fc1.bias", "shard.fc2.weight",
                               "shard.bias"};
  for (std::size_t i = 0; i < std::size(all); ++i) {
    auto wrong = compare_tensor(fmt::format("{} after {} steps", names[i], steps),
                                all[i].first->value, all[i].second->value, kTrainingBound, {},
                                "one rank with the whole block gets there: are gradients added to, "
                                "and not overwritten, and right in every step?");
    if (wrong) return wrong;
  }
  return std::nullopt;
}

}  // namespace rankbox
