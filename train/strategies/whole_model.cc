#include "train/strategies/whole_model.h"

#include "training/adam.h"
#include "training/sgd.h"

namespace rankbox::train {

std::unique_ptr<Optimizer> make_optimizer(const Plan& plan,
                                          const std::vector<Parameter*>& parameters) {
  if (plan.optimizer == OptimizerKind::kAdam)
    return std::make_unique<Adam>(parameters, AdamOptions{.learning_rate = plan.learning_rate});
  return std::make_unique<Sgd>(parameters, SgdOptions{.learning_rate = plan.learning_rate});
}

WholeModel::WholeModel(const Model& recipes, const Plan& plan)
    : model(recipes), optimizer(make_optimizer(plan, model.parameters())) {}

void WholeModel::add_state(TrainingState& state) {
  add_parameters(state, model.parameters());
  add_tensors(state, model.statistics());
  add_tensors(state, optimizer->state());
}

}  // namespace rankbox::train
