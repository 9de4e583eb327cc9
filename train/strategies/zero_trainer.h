// Base class of the three ZeRO stages.
//
// Every rank takes an equal share of each batch, and has the shards (parallel/shard.h) of its
// stage.
#pragma once

#include <memory>
#include <vector>

#include "parallel/shard.h"
#include "train/strategies/sharded_trainer.h"

namespace rankbox::train {

class ZeroTrainer : public ShardedTrainer {
 public:
  enum class ShardsOf { kWholeModel, kLayers };
  enum class Values { kKept, kDropped };  // of the model's parameters, between steps

  ZeroTrainer(Comm& dist, const Model& recipes, const Plan& plan, ShardsOf shards_of,
              Values values);

  DataShare data_share() const override { return {rank_, ranks_}; }
  void prepare_evaluation() override;
  /// Only where values are kept.
  Loss evaluate(Batch batch) override;

 protected:
  void distribute(WholeModel* whole) override;
  void collect(WholeModel* whole) override;

  /// Runs forward where values are kept. The gradient is that of this rank's mean loss.
  Loss forward(Batch batch, Saved& saved);

  Sequential& model() { return model_; }
  std::vector<Shard>& shards() { return shards_; }
  Optimizer& optimizer() { return *optimizer_; }

 private:
  /// Returns the parameters of each shard, in this rank's model or in the whole one.
  std::vector<std::vector<Parameter*>> groups_of(Sequential& model) const;
  /// Copies shards and their optimizer state to or from rank 0's whole model.
  template <class Carry>
  void carry_shards(WholeModel* whole, Carry carry);

  int rank_ = dist().rank();
  int ranks_ = dist().world_size();
  ShardsOf shards_of_;
  Values values_;
  Sequential model_;
  std::vector<Shard> shards_;  // [group]
  std::unique_ptr<Optimizer> optimizer_;
};

}  // namespace rankbox::train
