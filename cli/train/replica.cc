#include "cli/train/replica.h"

#include <ctime>
#include <utility>

#include "training/adam.h"
#include "training/sgd.h"

namespace rankbox::train {
namespace {

/// Tells the virtual clock how long this rank's core was busy while one of these lived. Not how long
/// it took: ranks that share a core would count each other's work.
class ComputeTime {
 public:
  explicit ComputeTime(Comm& dist) : dist_(dist), begin_(seconds()) {}
  ComputeTime(const ComputeTime&) = delete;
  ComputeTime& operator=(const ComputeTime&) = delete;
  void stop() { dist_.compute(seconds() - begin_); }

 private:
  static double seconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
  }

  Comm& dist_;
  double begin_;
};

}  // namespace

std::unique_ptr<Optimizer> make_optimizer(const Plan& plan,
                                          const std::vector<Parameter*>& parameters) {
  if (plan.optimizer == OptimizerKind::kAdam)
    return std::make_unique<Adam>(parameters, AdamOptions{.learning_rate = plan.learning_rate});
  return std::make_unique<Sgd>(parameters, SgdOptions{.learning_rate = plan.learning_rate});
}

Replica::Replica(Comm& dist, const Model& model, const Plan& plan)
    : dist_(dist), model_(model), optimizer_(make_optimizer(plan, model_.parameters())) {}

Loss Replica::find_gradients(Batch batch, std::int64_t number) {
  zero_gradients(model_.parameters());
  ComputeTime forward(dist_);
  Saved saved(batch.pass(Mode::kTraining, number));
  Loss loss = cross_entropy(model_.forward(std::move(batch.x), saved), batch.labels);
  forward.stop();
  ComputeTime backward(dist_);
  model_.backward(std::exchange(loss.gradient, {}), saved);
  backward.stop();
  return loss;
}

void Replica::update() {
  ComputeTime time(dist_);
  optimizer_->step();
  time.stop();
}

Loss Replica::evaluate(Batch batch) {
  Saved saved(batch.pass(Mode::kEvaluation));
  return cross_entropy(model_.forward(std::move(batch.x), saved), batch.labels_without_padding());
}

void Replica::add_state(TrainingState& state) {
  add_parameters(state, model_.parameters());
  add_tensors(state, model_.statistics());
  add_tensors(state, optimizer_->state());
}

}  // namespace rankbox::train
