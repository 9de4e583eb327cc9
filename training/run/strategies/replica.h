// A rank's copy of the whole model, with its optimizer, for single and ddp.
#pragma once

#include <functional>
#include <optional>

#include "training/run/mixed_precision.h"
#include "training/run/strategies/all_reduce.h"
#include "training/run/strategies/strategy.h"
#include "training/run/strategies/whole_model.h"

namespace rankbox::train {

class Replica : public Trainer {
 public:
  Replica(Comm& dist, const Model& model, const Plan& plan);

  std::vector<Parameter*> parameters() override { return whole_.model.parameters(); }
  Loss evaluate(Batch batch, ClassCounts& counts) override;
  ScheduledOptimizer& optimizer() override { return *whole_.optimizer; }
  void add_state(TrainingState& state) override;

  /// As Strategy::uses.
  static std::vector<std::string> uses(const Plan& plan);

 protected:
  /// Turns the gradients of the ranks' shares into those of the global batch. Collective.
  using Average = std::function<void(const std::vector<Parameter*>& parameters)>;

  Comm& dist() { return dist_; }
  bool averages_natively() const { return averages_natively_; }
  /// Averages each gradient over the ranks, with the plan's all-reduce.
  void average(const std::vector<Parameter*>& parameters);
  std::vector<NamedTensor*> statistics() { return whole_.model.statistics(); }
  /// Returns the state of the optimizer and of mixed precision.
  std::vector<NamedTensor*> learning_state();

  /// Takes an optimizer step on this rank's shares, in the plan's precision. Gradients add up over
  /// the batches and are averaged once, as in ddp_no_sync. Returns the loss without its gradient.
  Loss learn(std::vector<Batch> batches, std::int64_t number, const Average& average_all);
  /// The same, while an all-reduce of each bucket of gradients overlaps with backward. REQUIRES:
  /// Plan::overlap, for which the layers round and measure themselves.
  Loss learn_overlapped(Batch batch, std::int64_t number, std::int64_t bucket_bytes);

 private:
  /// Computes the gradients of factor times the mean loss over all batches.
  Loss find_gradients(std::vector<Batch> batches, std::int64_t number, float factor);
  void step_optimizer();

  Comm& dist_;
  const bool averages_natively_;
  const AllReduce::Run all_reduce_;
  bool loss_scaling_averages_;
  double clip_norm_;
  std::optional<MixedPrecision> mixed_;
  WholeModel whole_;
};

}  // namespace rankbox::train
