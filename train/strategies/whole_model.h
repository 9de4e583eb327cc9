// A model with its optimizer, both whole: what one rank trains with, and what a checkpoint holds.
#pragma once

#include <memory>

#include "train/plan.h"
#include "training/checkpoint.h"
#include "training/optimizer.h"
#include "training/sequential.h"

namespace rankbox::train {

/// As the plan has it, for these parameters: of a whole model, or of a part.
std::unique_ptr<Optimizer> make_optimizer(const Plan& plan,
                                          const std::vector<Parameter*>& parameters);

struct WholeModel {
  WholeModel(const Model& recipes, const Plan& plan);

  /// Parameters, statistics, and what the optimizer keeps: in this order, by name.
  void add_state(TrainingState& state);

  Sequential model;
  std::unique_ptr<Optimizer> optimizer;
};

}  // namespace rankbox::train
