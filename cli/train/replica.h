// A rank's own copy of the whole model, with its optimizer: what single and ddp are made of.
#pragma once

#include <memory>

#include "cli/train/strategy.h"
#include "training/optimizer.h"

namespace rankbox::train {

std::unique_ptr<Optimizer> make_optimizer(const Plan& plan,
                                          const std::vector<Parameter*>& parameters);

class Replica : public Trainer {
 public:
  Replica(Comm& dist, const Model& model, const Plan& plan);

  std::vector<Parameter*> parameters() override { return model_.parameters(); }
  Loss evaluate(Batch batch) override;
  void add_state(TrainingState& state) override;

 protected:
  Comm& dist() { return dist_; }
  std::vector<NamedTensor*> statistics() { return model_.statistics(); }
  std::vector<NamedTensor*> optimizer_state() { return optimizer_->state(); }

  /// Forward and back: gradients are then those of the mean loss over `batch`. The loss is returned
  /// without its gradient.
  Loss find_gradients(Batch batch, std::int64_t number);
  void update();

 private:
  Comm& dist_;
  Sequential model_;
  std::unique_ptr<Optimizer> optimizer_;
};

}  // namespace rankbox::train
