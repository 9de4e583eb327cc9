// A small classifier, trained by one rank alone and by all ranks together.
//
// Together, each rank trains on its part of every batch. Data parallel training promises that both
// models end up the same, so any mistake shows.
//
// The model has 6 inputs, a hidden layer and 3 classes. A batch has 4 samples per rank; every step
// has another batch. Initial values, batches and learning rate vary with the salt.
// tests/judge/small_training_test.cc shows that it learns, and what rounding does to it.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "judge/subject.h"
#include "training/data/dataset.h"
#include "training/sequential.h"
#include "training/sgd.h"

namespace rankbox {

inline constexpr std::int64_t kSamplesPerRank = 4;
inline constexpr std::int64_t kSmallInputs = 6;
inline constexpr std::int64_t kSmallClasses = 3;
/// Of initial values, without a salt.
inline constexpr std::uint64_t kSmallSeed = 1;

/// The bound on differences of parameters between trainings: the order of additions differs.
/// Rounding changes less than a twentieth of it.
inline constexpr float kTrainingBound = 1e-4f;

/// Returns fc1, gelu1, fc2, … with hidden layers of these widths. A ReLU's derivative jumps:
/// where a value next to 0 is rounded to the other side, a right program gets another gradient.
/// GELU's does not, so the effect of rounding stays far below the bound.
Model smooth_model(const std::vector<std::int64_t>& hidden);

/// As above, with one hidden layer.
Model small_model(std::int64_t hidden);

/// As above, with three hidden layers: fc1, gelu1, … fc4; with nine if they are very narrow.
Model deeper_model(std::int64_t width);

/// As small_model, with dropout, which depends on a batch's mode and on its samples' numbers.
Model dropping_model(std::int64_t hidden);
/// Returns dropout for a model.
RecipeOf<float> dropout_of_samples(const char* name);

/// As small_model; learns from the first of a sample's rows.
Model model_of_rows(std::int64_t hidden);

/// Returns the batch of all ranks in this step.
Batch small_batch(int world_size, int step);

/// As above; the last sample of each rank's part is padding.
Batch padded_batch(int world_size, int step);

/// As above, for model_of_rows: each sample has two rows.
Batch batch_of_rows(int world_size, int step);

/// Makes a model with hidden layers of this width.
using ModelMaker = Model (*)(std::int64_t hidden);

/// Makes the batch of all ranks in a step, as these do.
using Batches = Batch (*)(int world_size, int step);

/// Returns a rank's part of a batch.
Batch part_of(const Batch& batch, int rank, int world_size);

/// Runs forward, loss and backward: adds the gradient of the batch's mean loss. Returns that loss.
double add_gradients(Sequential& model, const Batch& batch);

/// Returns the optimizer's options in all trainings.
SgdOptions small_sgd();

/// One step of a rank, with its part of the batch. Leaves the mean of all ranks' gradients in the
/// model's parameters; gradients are zero before.
using GradientStep = std::function<void(Sequential& model, const Batch& mine)>;

/// Trains a rank's model for `steps` steps, on its parts of the batches.
void train_together(Sequential& model, int rank, int world_size, int steps,
                    const GradientStep& gradients, Batches batches = small_batch);

/// Trains on all ranks, and compares with training on one. REQUIRES: *example.steps > 0;
/// *example.count is the width of the hidden layer.
/// @param holds_result whether this rank's model should equal that of one rank
std::optional<Difference> compare_training(Comm& dist, const Case& example,
                                           const GradientStep& gradients, bool holds_result = true,
                                           Batches batches = small_batch,
                                           ModelMaker model = small_model);

/// Trains the model for `steps` steps on one rank, with whole batches.
void train_alone(Sequential& model, int world_size, int steps, Batches batches = small_batch);

/// Returns the elements of the small model's parameters, in order.
std::vector<std::int64_t> small_model_sizes(std::int64_t hidden);

}  // namespace rankbox
