// A rank's own copy of the whole model, with its optimizer: what single and ddp are made of.
#pragma once

#include "cli/train/strategy.h"
#include "cli/train/whole_model.h"

namespace rankbox::train {

class Replica : public Trainer {
 public:
  Replica(Comm& dist, const Model& model, const Plan& plan);

  std::vector<Parameter*> parameters() override { return whole_.model.parameters(); }
  Loss evaluate(Batch batch) override;
  void add_state(TrainingState& state) override { whole_.add_state(state); }

 protected:
  Comm& dist() { return dist_; }
  std::vector<NamedTensor*> statistics() { return whole_.model.statistics(); }
  std::vector<NamedTensor*> optimizer_state() { return whole_.optimizer->state(); }

  /// Forward and back: gradients are then those of the mean loss over `batch`. The loss is returned
  /// without its gradient.
  Loss find_gradients(Batch batch, std::int64_t number);
  void update();

 private:
  Comm& dist_;
  WholeModel whole_;
};

}  // namespace rankbox::train
