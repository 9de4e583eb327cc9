#include "judge/tensor_parallel/mlp_training.h"

#include <fmt/format.h>

#include "judge/training/small_training.h"
#include "training/cross_entropy.h"
#include "training/layers/gelu.h"
#include "training/sgd.h"

namespace rankbox {

namespace {

constexpr SgdOptions kSgd = {.learning_rate = 0.1, .momentum = 0.5};

// Returns the same batch for every world size.
Batch batch_of(int step) {
  return small_batch(static_cast<int>(kMlpBatch / kSamplesPerRank), step);
}

}  // namespace

std::vector<int> mlp_training_sizes() { return {1, 2, 3, 4, 5, 8, 13}; }

void train_mlp_alone(Block& model, int steps) {
  Gelu gelu;
  Chain chain(model.first, gelu, model.last);
  Sgd optimizer(model.parameters(), kSgd);
  for (int step = 0; step < steps; ++step) {
    zero_gradients(model.parameters());
    const Batch batch = batch_of(step);
    Saved saved(batch.pass(Mode::kTraining));
    Loss loss = cross_entropy(chain.forward(batch.x, saved), batch.labels);
    chain.backward(std::move(loss.gradient), saved);
    optimizer.step();
  }
}

std::optional<Difference> compare_mlp_training(Comm& dist, int steps, MlpFunction function) {
  const int r = dist.rank(), p = dist.world_size();
  Block alone(mlp_shape(kMlpInputs, kMlpClasses, p));
  BlockShard shard(alone, r, p);
  Gelu gelu;
  ParallelMlp block{shard.first, gelu, shard.last, shard.bias};
  Sgd optimizer(shard.parameters(), kSgd);
  for (int step = 0; step < steps; ++step) {
    zero_gradients(shard.parameters());
    const Batch batch = batch_of(step);
    Saved saved(batch.pass(Mode::kTraining));
    Tensor tensor = batch.x;
    function(dist, block, Direction::kForward, tensor, saved);
    tensor = cross_entropy(tensor, batch.labels).gradient;
    function(dist, block, Direction::kBackward, tensor, saved);
    optimizer.step();
  }

  train_mlp_alone(alone, steps);
  BlockShard expected(alone, r, p);
  const char* const names[] = {"fc1.weight", "fc1.bias", "fc2.weight", "bias"};
  for (std::size_t i = 0; i < std::size(names); ++i) {
    auto wrong = compare_tensor(
        fmt::format("shard.{} after {} steps", names[i], steps), shard.parameters()[i]->value,
        {expected.parameters()[i]->value,
         {},
         {"trains-as-whole-block",
          "one rank with the whole block gets there: are gradients added to, and not overwritten, "
          "and right in every step?"}},
        kTrainingBound);
    if (wrong) return wrong;
  }
  return std::nullopt;
}

}  // namespace rankbox
