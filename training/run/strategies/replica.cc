#include "training/run/strategies/replica.h"

#include <utility>

#include "parallel/ddp_overlap.h"
#include "training/run/strategies/compute_time.h"
#include "training/run/strategies/measured_layer.h"
#include "training/run/strategies/micro_batches.h"

namespace rankbox::train {
namespace {

/// Returns whether loss_scaling averages the gradients, with the native all-reduce.
bool calls_loss_scaling(const Plan& plan) {
  return plan.precision == Precision::kMixed && plan.all_reduce == "native" && plan.bucket_mib == 0;
}

Model layered(const Model& model, const std::optional<MixedPrecision>& mixed, Comm& dist) {
  return measured(mixed ? mixed->rounding_layers(model) : model, dist);
}

}  // namespace

Replica::Replica(Comm& dist, const Model& model, const Plan& plan)
    : dist_(dist),
      averages_natively_(plan.all_reduce == "native"),
      all_reduce_(all_reduce_named(plan.all_reduce).make(dist)),
      loss_scaling_averages_(calls_loss_scaling(plan)),
      clip_norm_(plan.clip_norm),
      mixed_(mixed_precision_of(plan)),
      whole_(plan.overlap ? layered(model, mixed_, dist) : model, plan) {
  if (plan.overlap && mixed_) whole_.model.add("loss_scale", mixed_->loss_scale_layer());
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

Loss Replica::find_gradients(std::vector<Batch> batches, std::int64_t number, float factor) {
  zero_gradients(whole_.model.parameters());
  const double samples = samples_in(batches);
  Loss total;
  for (Batch& batch : batches) {
    ComputeTime forward(dist_);
    Saved saved(batch.pass(Mode::kTraining, number));
    Loss loss =
        cross_entropy(whole_.model.forward(std::move(batch.x), saved), batch.labels, samples);
    forward.stop();
    ComputeTime backward(dist_);
    if (factor != 1) loss.gradient *= factor;
    whole_.model.backward(std::move(loss.gradient), saved);
    backward.stop();
    add_to(total, loss);
  }
  return total;
}

std::vector<std::string> Replica::uses(const Plan& plan) {
  std::vector<std::string> all = all_reduce_named(plan.all_reduce).uses;
  if (plan.precision == Precision::kMixed) all.emplace_back("dynamic_loss_scaling");
  if (calls_loss_scaling(plan)) all.emplace_back("loss_scaling");
  return all;
}

void Replica::average(const std::vector<Parameter*>& parameters) {
  for (Parameter* parameter : parameters) all_reduce_(gradient_of(*parameter), ReduceOp::AVG);
}

Loss Replica::learn(std::vector<Batch> batches, std::int64_t number, const Average& average_all) {
  const std::vector<Parameter*> parameters = whole_.model.parameters();
  bool skip = false;
  Loss loss;
  if (mixed_) {
    const auto scaled = [&](float factor) {
      return find_gradients(std::move(batches), number, factor);
    };
    std::function<void()> own;
    if (!loss_scaling_averages_) own = [&] { average_all(parameters); };
    loss = mixed_->find_gradients(dist_, parameters, scaled, own, skip);
  } else {
    loss = find_gradients(std::move(batches), number, 1);
    average_all(parameters);
  }
  if (!skip) step_optimizer();
  return loss;
}

Loss Replica::learn_overlapped(Batch batch, std::int64_t number, std::int64_t bucket_bytes) {
  zero_gradients(whole_.model.parameters());
  Saved saved(batch.pass(Mode::kTraining, number));
  Loss loss = cross_entropy(whole_.model.forward(std::move(batch.x), saved), batch.labels);
  ddp_overlap(dist_, whole_.model, std::exchange(loss.gradient, {}), saved, bucket_bytes);
  if (!mixed_ || mixed_->accept(dist_, whole_.model.parameters())) step_optimizer();
  return loss;
}

void Replica::step_optimizer() {
  clip(dist_, {}, whole_.model.parameters(), clip_norm_);
  ComputeTime time(dist_);
  whole_.optimizer->step();
  time.stop();
}

Loss Replica::evaluate(Batch batch, ClassCounts& counts) {
  Saved saved(batch.pass(Mode::kEvaluation));
  return judged(whole_.model.forward(std::move(batch.x), saved), batch, counts);
}

}  // namespace rankbox::train
