// An optimizer whose learning rate may change between steps, and that of a plan.
#pragma once

#include <memory>
#include <vector>

#include "training/optimizer.h"
#include "training/run/plan.h"

namespace rankbox::train {

class ScheduledOptimizer : public Optimizer {
 public:
  virtual void set_learning_rate(double rate) = 0;
};

/// Returns the plan's optimizer for these parameters, of a whole model or of a part.
std::unique_ptr<ScheduledOptimizer> make_optimizer(const Plan& plan,
                                                   const std::vector<Parameter*>& parameters);

}  // namespace rankbox::train
