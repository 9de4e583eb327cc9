// A classifier so small that training it takes no time, trained twice: by one rank alone, and by all
// ranks together, each on its part of every batch. Afterwards both must be the same: that is what data
// parallel training promises, and nothing that goes wrong on the way escapes it.
//
// The model: 6 inputs, a hidden layer, 3 classes; a batch has 4 samples for every rank, and every
// step another one. (tests/verdict/small_training_test.cc: alone, it learns.)
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "training/data/dataset.h"
#include "training/sequential.h"
#include "training/sgd.h"
#include "verdict/subject.h"

namespace rankbox {

inline constexpr std::int64_t kSamplesPerRank = 4;
inline constexpr std::int64_t kSmallInputs = 6;
inline constexpr std::int64_t kSmallClasses = 3;

/// How far a parameter may be from the other training's: additions happen in another order.
inline constexpr float kTrainingBound = 1e-4f;

Model small_model(std::int64_t hidden);

/// The same with three hidden layers, for what needs several: fc1, relu1, … fc4.
Model deeper_model(std::int64_t width);

/// The batch of all ranks in this step, and a rank's part of it.
Batch small_batch(int world_size, int step);
Batch part_of(const Batch& batch, int rank, int world_size);

/// Forward, loss, backward: adds the gradient of the batch's mean loss. Returns that loss.
double add_gradients(Sequential& model, const Batch& batch);

/// What all of them learn with.
inline constexpr SgdOptions kSmallSgd = {.learning_rate = 0.2, .momentum = 0.5};

/// What every step of a rank does with its model, and with its part of the batch: leaves the mean of
/// all ranks' gradients in the parameters, which were zero before.
using GradientStep = std::function<void(Sequential& model, const Batch& mine)>;

/// Trains a rank's model so many steps, on its parts of the batches.
void train_together(Sequential& model, int rank, int world_size, int steps,
                    const GradientStep& gradients);

/// Trains on all ranks, and compares with training alone. REQUIRES: *example.steps > 0;
/// *example.count is the width of the hidden layer.
/// @param holds_result whether this rank's model is one that should be the same
std::optional<Difference> compare_training(Comm& dist, const Case& example,
                                           const GradientStep& gradients, bool holds_result = true);

/// The model after so many steps of one rank with the whole batch.
void train_alone(Sequential& model, int world_size, int steps);

/// Elements of the model's parameters, in their order.
std::vector<std::int64_t> small_model_sizes(std::int64_t hidden);

}  // namespace rankbox
