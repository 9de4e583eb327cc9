#include "judge/training/small_training.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "judge/salt.h"
#include "judge/training/known_mistakes.h"
#include "training/cross_entropy.h"
#include "training/layers/dropout.h"
#include "training/layers/first_token.h"
#include "training/layers/gelu.h"
#include "training/layers/linear.h"
#include "training/random.h"

namespace rankbox {

SgdOptions small_sgd() {
  return {.learning_rate = static_cast<double>(drawn("learning rate", 20, 10, 25)) / 100,
          .momentum = static_cast<double>(drawn("momentum", 5, 3, 7)) / 10};
}

namespace {

/// Initial weights are three times as large as usual. Otherwise each layer and the GELU after it
/// would shrink its input, and deep models would hardly learn.
std::unique_ptr<Layer> wide_linear(std::int64_t in, std::int64_t out, Random random) {
  auto linear = std::make_unique<Linear>(in, out, random);
  linear->weight.value *= 3;
  return linear;
}

}  // namespace

Model smooth_model(const std::vector<std::int64_t>& hidden) {
  const Random random(kSmallSeed ^ salt());
  Model model;
  std::int64_t width = kSmallInputs;
  const auto add_linear = [&](std::int64_t out) {
    const std::string name = fmt::format("fc{}", model.size() / 2 + 1);
    const std::int64_t in = std::exchange(width, out);
    const Random own = random.stream(name);
    model.push_back({name, [=] { return wide_linear(in, out, own); }});
  };
  for (const std::int64_t out : hidden) {
    add_linear(out);
    model.push_back(recipe<Gelu>(fmt::format("gelu{}", model.size() / 2 + 1)));
  }
  add_linear(kSmallClasses);
  return model;
}

Model small_model(std::int64_t hidden) { return smooth_model({hidden}); }

Model deeper_model(std::int64_t width) {
  if (width == 2) return smooth_model(std::vector<std::int64_t>(9, width));
  return smooth_model({width, 6, width});
}

RecipeOf<float> dropout_of_samples(const char* name) {
  return recipe<Dropout>(name, 0.25, Random(3 ^ salt()));
}

Model dropping_model(std::int64_t hidden) {
  Model model = small_model(hidden);
  model.insert(model.begin() + 2, dropout_of_samples("dropout1"));
  return model;
}

Model model_of_rows(std::int64_t hidden) {
  Model model = small_model(hidden);
  model.insert(model.begin(), recipe<FirstToken>("first_row"));
  return model;
}

std::vector<std::int64_t> small_model_sizes(std::int64_t hidden) {
  return {kSmallInputs * hidden, hidden, hidden * kSmallClasses, kSmallClasses};
}

Batch small_batch(int world_size, int step) {
  const std::int64_t size = world_size * kSamplesPerRank;
  Random random = Random(7 ^ salt()).stream(static_cast<std::uint64_t>(step));
  Batch batch;
  std::vector<float> values(static_cast<std::size_t>(size * kSmallInputs));
  for (float& value : values) value = static_cast<float>(random.uniform(-1, 1));
  for (std::int64_t i = 0; i < size; ++i) {
    const auto x = values.begin() + i * kSmallInputs;
    const std::int64_t learnable = std::max_element(x, x + kSmallClasses) - x;
    batch.labels.push_back(
        static_cast<std::int32_t>(salt() == 0 ? learnable : random.below(kSmallClasses)));
    batch.samples.push_back(step * size + i);
  }
  batch.x = from_host(values, {size, kSmallInputs});
  return batch;
}

Batch padded_batch(int world_size, int step) {
  Batch batch = small_batch(world_size, step);
  for (std::size_t i = kSamplesPerRank - 1; i < batch.labels.size(); i += kSamplesPerRank)
    batch.labels[i] = kIgnoredLabel;
  return batch;
}

Batch batch_of_rows(int world_size, int step) {
  Batch batch = padded_batch(world_size, step);
  const std::vector<float> first = to_host(batch.x);
  std::vector<float> rows;
  for (auto x = first.begin(); x != first.end(); x += kSmallInputs) {
    rows.insert(rows.end(), x, x + kSmallInputs);
    rows.insert(rows.end(), kSmallInputs, 1);
  }
  batch.x = from_host(rows, {batch.size(), 2, kSmallInputs});
  return batch;
}

Batch part_of(const Batch& batch, int rank, int world_size) {
  return micro_batch(batch, batch.size() * rank / world_size,
                     batch.size() * (rank + 1) / world_size);
}

double add_gradients(Sequential& model, const Batch& batch) {
  Saved saved(batch.pass(Mode::kTraining));
  Loss loss = cross_entropy(model.forward(batch.x, saved), batch.labels);
  model.backward(std::move(loss.gradient), saved);
  return loss.mean();
}

void train_alone(Sequential& model, int world_size, int steps, Batches batches) {
  Sgd optimizer(model.parameters(), small_sgd());
  for (int step = 0; step < steps; ++step) {
    zero_gradients(model.parameters());
    add_gradients(model, batches(world_size, step));
    optimizer.step();
  }
}

void train_together(Sequential& model, int rank, int world_size, int steps,
                    const GradientStep& gradients, Batches batches) {
  Sgd optimizer(model.parameters(), small_sgd());
  for (int step = 0; step < steps; ++step) {
    zero_gradients(model.parameters());
    gradients(model, part_of(batches(world_size, step), rank, world_size));
    optimizer.step();
  }
}

std::optional<Difference> compare_training(Comm& dist, const Case& example,
                                           const GradientStep& gradients, bool holds_result,
                                           Batches batches, ModelMaker model) {
  const int p = dist.world_size();
  Sequential together(model(*example.count));
  train_together(together, dist.rank(), p, *example.steps, gradients, batches);
  if (!holds_result) return std::nullopt;

  Sequential alone(model(*example.count));
  train_alone(alone, p, *example.steps, batches);
  auto difference = compare_tensors(
      values_of(together.parameters()), values_of(alone.parameters()), kTrainingBound, {},
      {"gradient-of-whole-batch",
       "one rank with the whole batch gets there: is the gradient that of the whole batch's mean "
       "loss, in every step?"});
  if (difference) difference->what += fmt::format(" after {} steps", *example.steps);
  return difference;
}

}  // namespace rankbox
