// Base class of the three ZeRO stages.
//
// Every rank takes an equal share of each batch, and has the shards (parallel/shard.h) of its
// stage. On a grid of nodes each node has a whole model, whose shards its ranks have; the gradients
// of a shard are averaged among its copies before the step.
//
// The stages' functions end with a step of the optimizer that they are given. Theirs is
// each_step(), which does what the strategy wants at that time: add up the batches of a step, skip
// an overflow, then step.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "collectives/node_grid.h"
#include "parallel/shard.h"
#include "training/run/strategies/micro_batches.h"
#include "training/run/strategies/sharded_trainer.h"

namespace rankbox::train {

class ZeroTrainer : public ShardedTrainer {
 public:
  enum class ShardsOf { kWholeModel, kLayers };
  enum class Values { kKept, kDropped };  // of the model's parameters, between steps

  /// @param grid of all ranks of `dist`; without it, all of them share one model
  ZeroTrainer(Comm& dist, const Model& recipes, const Plan& plan, ShardsOf shards_of, Values values,
              std::optional<NodeGrid> grid = {});

  DataShare data_share() const override { return share_; }
  void prepare_evaluation() override;
  /// Only where values are kept.
  Loss evaluate(Batch batch, ClassCounts& counts) override;
  ScheduledOptimizer& optimizer() override { return *optimizer_; }

 protected:
  void distribute(WholeModel* whole) override;
  void collect(WholeModel* whole) override;

  /// The ranks whose shards are one model.
  Comm& sharers() override { return grid_ ? grid_->node : dist(); }

  /// Runs forward where values are kept. The gradient is that of this rank's mean loss, or of its
  /// sum over the divisor.
  Loss forward(Batch batch, Saved& saved, double divisor = 0);

  Sequential& model() { return model_; }
  std::vector<Shard>& shards() { return shards_; }
  Optimizer& each_step() { return each_step_; }
  /// Steps after this many calls, on the mean of their gradients.
  void step_after(std::int64_t calls) { mean_.emplace(mine_of(shards_), calls); }

 private:
  class EachStep : public Optimizer {
   public:
    explicit EachStep(ZeroTrainer& trainer) : trainer_(trainer) {}
    void step() override {
      if (trainer_.mean_ && !trainer_.mean_->add()) return;
      trainer_.average_copies();
      trainer_.take_step(mine_of(trainer_.shards_));
    }
    std::vector<NamedTensor*> state() override { return {}; }

   private:
    ZeroTrainer& trainer_;
  };

  /// Returns the parameters of each shard, in this rank's model or in the whole one.
  std::vector<std::vector<Parameter*>> groups_of(Sequential& model) const;
  void average_copies();
  /// Of this rank's shards, on the node of rank 0.
  bool is_first_copy() const { return !grid_ || grid_->counterparts.rank() == 0; }
  /// Copies shards and their optimizer state to or from rank 0's whole model.
  template <class Carry>
  void carry_shards(WholeModel* whole, Carry carry);

  DataShare share_{dist().rank(), dist().world_size()};
  std::optional<NodeGrid> grid_;
  ShardsOf shards_of_;
  Values values_;
  Sequential model_;
  std::vector<Shard> shards_;  // [group]
  std::unique_ptr<ScheduledOptimizer> optimizer_;
  std::optional<GradientMean> mean_;
  EachStep each_step_{*this};
};

}  // namespace rankbox::train
