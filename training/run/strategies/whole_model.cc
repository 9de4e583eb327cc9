#include "training/run/strategies/whole_model.h"

namespace rankbox::train {

WholeModel::WholeModel(const Model& recipes, const Plan& plan)
    : model(recipes), optimizer(make_optimizer(plan, model.parameters())) {}

void WholeModel::add_state(TrainingState& state) {
  add_parameters(state, model.parameters());
  add_tensors(state, model.statistics());
  add_tensors(state, optimizer->state());
}

}  // namespace rankbox::train
