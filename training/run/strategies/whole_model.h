// A whole model with its optimizer, for training on one rank and for checkpoints.
#pragma once

#include <memory>

#include "training/checkpoint.h"
#include "training/run/strategies/scheduled_optimizer.h"
#include "training/sequential.h"

namespace rankbox::train {

struct WholeModel {
  WholeModel(const Model& recipes, const Plan& plan);

  /// Adds parameters, statistics, and the optimizer's state: in this order, by name.
  void add_state(TrainingState& state);

  Sequential model;
  std::unique_ptr<ScheduledOptimizer> optimizer;
};

}  // namespace rankbox::train
