// Base class of the sharded strategies.
//
// Only a checkpoint needs a whole model, on rank 0.
//
//   constructed   rank 0 has a whole model, which may be loaded into
//   start()       distribute(): each rank gets its part; the whole one is freed
//   gather()      rank 0 makes a whole model again, and collect() fills it
//   release()     it is freed
#pragma once

#include <optional>

#include "training/run/mixed_precision.h"
#include "training/run/strategies/compute_time.h"
#include "training/run/strategies/measured_layer.h"
#include "training/run/strategies/strategy.h"
#include "training/run/strategies/whole_model.h"

namespace rankbox::train {

class ShardedTrainer : public Trainer {
 public:
  ShardedTrainer(Comm& dist, const Model& recipes, const Plan& plan)
      : dist_(dist), recipes_(recipes), plan_(plan), mixed_(mixed_precision_of(plan)) {
    make_whole();
  }

  /// Empty except on rank 0 while the model is whole.
  std::vector<Parameter*> parameters() final {
    return whole_ ? whole_->model.parameters() : std::vector<Parameter*>{};
  }
  void start() final {
    distribute(whole());
    if (mixed_) {
      for (NamedTensor* tensor : mixed_->state()) dist_.broadcast(tensor->value, 0);
    }
    whole_.reset();
  }
  void gather() final {
    make_whole();
    collect(whole());
  }
  void release() final { whole_.reset(); }
  void add_state(TrainingState& state) final {
    whole_->add_state(state);
    if (mixed_) add_tensors(state, mixed_->state());
  }

 protected:
  /// Gives each rank its part of rank 0's whole model, which is null elsewhere. Collective.
  virtual void distribute(WholeModel* whole) = 0;
  /// The inverse of distribute. Collective.
  virtual void collect(WholeModel* whole) = 0;

  Comm& dist() { return dist_; }
  /// The ranks whose parts are one model.
  virtual Comm& sharers() { return dist_; }
  const Model& recipes() const { return recipes_; }
  const Plan& plan() const { return plan_; }
  MixedPrecision* mixed() { return mixed_ ? &*mixed_ : nullptr; }

  /// Returns the recipes with what a rank's layers need: they round, in mixed precision, and their
  /// time is charged to the rank.
  Model layers() { return measured(mixed_ ? mixed_->rounding_layers(recipes_) : recipes_, dist_); }
  /// Takes the optimizer's step, unless gradients overflowed in mixed precision. No other rank of
  /// sharers() has elements of these parameters. Collective.
  void take_step(const std::vector<Parameter*>& parameters) {
    if (mixed_ && !mixed_->accept(dist_, parameters)) return;
    clip(sharers(), parameters, {}, plan_.clip_norm);
    ComputeTime time(dist_);
    optimizer().step();
    time.stop();
  }

 private:
  void make_whole() {
    if (dist_.rank() == 0) whole_.emplace(recipes_, plan_);
  }
  WholeModel* whole() { return whole_ ? &*whole_ : nullptr; }

  Comm& dist_;
  const Model& recipes_;
  const Plan& plan_;
  std::optional<MixedPrecision> mixed_;
  std::optional<WholeModel> whole_;
};

}  // namespace rankbox::train
