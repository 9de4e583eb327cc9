// A whole model with its optimizer, for training on one rank and for checkpoints.
#pragma once

#include <memory>

#include "train/plan.h"
#include "training/checkpoint.h"
#include "training/optimizer.h"
#include "training/sequential.h"

namespace rankbox::train {

/// Returns the plan's optimizer for these parameters, of a whole model or of a part.
std::unique_ptr<Optimizer> make_optimizer(const Plan& plan,
                                          const std::vector<Parameter*>& parameters);

struct WholeModel {
  WholeModel(const Model& recipes, const Plan& plan);

  /// Adds parameters, statistics, and the optimizer's state: in this order, by name.
  void add_state(TrainingState& state);

  Sequential model;
  std::unique_ptr<Optimizer> optimizer;
};

}  // namespace rankbox::train
