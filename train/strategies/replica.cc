#include "train/strategies/replica.h"

#include <utility>

#include "train/strategies/compute_time.h"

namespace rankbox::train {
Replica::Replica(Comm& dist, const Model& model, const Plan& plan)
    : dist_(dist),
      all_reduce_(all_reduce_named(plan.all_reduce)),
      loss_scaling_averages_(plan.precision == Precision::kMixed && averages_natively()),
      whole_(model, plan) {
  if (plan.precision != Precision::kFp32) mixed_.emplace(plan.precision);
}

void Replica::add_state(TrainingState& state) {
  whole_.add_state(state);
  if (mixed_) add_tensors(state, mixed_->state());
}

std::vector<NamedTensor*> Replica::learning_state() {
  std::vector<NamedTensor*> state = whole_.optimizer->state();
  if (!mixed_) return state;
  for (NamedTensor* tensor : mixed_->state()) state.push_back(tensor);
  return state;
}

Loss Replica::find_gradients(Batch batch, std::int64_t number, float factor) {
  zero_gradients(whole_.model.parameters());
  ComputeTime forward(dist_);
  Saved saved(batch.pass(Mode::kTraining, number));
  Loss loss = cross_entropy(whole_.model.forward(std::move(batch.x), saved), batch.labels);
  forward.stop();
  ComputeTime backward(dist_);
  Tensor gradient = std::exchange(loss.gradient, {});
  if (factor != 1) gradient *= factor;
  whole_.model.backward(std::move(gradient), saved);
  backward.stop();
  return loss;
}

std::vector<std::string> Replica::uses(const Plan& plan) {
  std::vector<std::string> all = all_reduce_named(plan.all_reduce).uses;
  if (plan.precision == Precision::kMixed) all.emplace_back("dynamic_loss_scaling");
  if (plan.precision == Precision::kMixed && plan.all_reduce == "native")
    all.emplace_back("loss_scaling");
  return all;
}

void Replica::average(const std::vector<Parameter*>& parameters) {
  for (Parameter* parameter : parameters)
    all_reduce_.run(dist_, gradient_of(*parameter), ReduceOp::AVG);
}

Loss Replica::learn(Batch batch, std::int64_t number, const Average& average_all) {
  const std::vector<Parameter*> parameters = whole_.model.parameters();
  bool skip = false;
  Loss loss;
  if (mixed_) {
    const auto scaled = [&](float factor) {
      return find_gradients(std::move(batch), number, factor);
    };
    std::function<void()> own;
    if (!loss_scaling_averages_) own = [&] { average_all(parameters); };
    loss = mixed_->find_gradients(dist_, parameters, scaled, own, skip);
  } else {
    loss = find_gradients(std::move(batch), number, 1);
    average_all(parameters);
  }
  if (skip) return loss;
  ComputeTime time(dist_);
  whole_.optimizer->step();
  time.stop();
  return loss;
}

Loss Replica::evaluate(Batch batch) {
  Saved saved(batch.pass(Mode::kEvaluation));
  return cross_entropy(whole_.model.forward(std::move(batch.x), saved),
                       batch.labels_without_padding());
}

}  // namespace rankbox::train
