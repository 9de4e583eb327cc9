#include "cli/train/replica.h"

#include <utility>

#include "cli/train/compute_time.h"

namespace rankbox::train {
Replica::Replica(Comm& dist, const Model& model, const Plan& plan)
    : dist_(dist), whole_(model, plan) {}

Loss Replica::find_gradients(Batch batch, std::int64_t number) {
  zero_gradients(whole_.model.parameters());
  ComputeTime forward(dist_);
  Saved saved(batch.pass(Mode::kTraining, number));
  Loss loss = cross_entropy(whole_.model.forward(std::move(batch.x), saved), batch.labels);
  forward.stop();
  ComputeTime backward(dist_);
  whole_.model.backward(std::exchange(loss.gradient, {}), saved);
  backward.stop();
  return loss;
}

void Replica::update() {
  ComputeTime time(dist_);
  whole_.optimizer->step();
  time.stop();
}

Loss Replica::evaluate(Batch batch) {
  Saved saved(batch.pass(Mode::kEvaluation));
  return cross_entropy(whole_.model.forward(std::move(batch.x), saved),
                       batch.labels_without_padding());
}

}  // namespace rankbox::train
