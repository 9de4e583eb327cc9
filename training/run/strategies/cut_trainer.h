// Base class of the strategies that cut some parameters along their rows or columns.
//
// All other parameters are whole on every rank, with equal gradients after average(), so they stay
// equal.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "training/run/strategies/sharded_trainer.h"

namespace rankbox::train {

/// A rank's part of a whole parameter.
enum class Cut { kNone, kRows, kColumns };

struct ShardedParameter {
  Parameter* mine;  // with the whole parameter's name
  Cut cut;
};

class CutTrainer : public ShardedTrainer {
 public:
  using ShardedTrainer::ShardedTrainer;

  Loss step(std::vector<Batch> batches, std::int64_t number) override;
  ScheduledOptimizer& optimizer() final { return *optimizer_; }
  Loss evaluate(Batch batch, ClassCounts& counts) override;

 protected:
  /// Takes the parameters of this rank, in the same order on all ranks. A constructor calls it.
  void take(const std::vector<ShardedParameter>& parameters);

  virtual Tensor forward(Tensor x, Saved& saved) = 0;
  virtual void backward(Tensor dy, Saved& saved) = 0;
  virtual std::vector<NamedTensor*> statistics() = 0;
  /// Turns the gradients of this rank's batches into those of the global ones. Collective.
  virtual void average() {}

  void distribute(WholeModel* whole) final;
  void collect(WholeModel* whole) final;
  int ranks() { return dist().world_size(); }

 private:
  /// A tensor of this rank, and on rank 0 the whole tensor that contains it.
  struct Carried {
    Tensor* mine;
    Cut cut;
    Tensor* whole;
  };

  /// Computes the gradients of factor times the mean loss over all batches.
  Loss find_gradients(std::vector<Batch> batches, std::int64_t number, float factor);
  /// Returns parameters, statistics and the optimizer's state, in the same order on all ranks.
  std::vector<Carried> carried(WholeModel* whole);
  /// "fc1.weight.velocity" is cut as "fc1.weight".
  Cut cut_of_state(const std::string& name) const;

  std::vector<ShardedParameter> parameters_;
  std::vector<Parameter*> mine_;        // `sharded_` and `replicated_`, in the model's order
  std::vector<Parameter*> sharded_;     // parts, which no other rank has
  std::vector<Parameter*> replicated_;  // the same on all ranks
  std::unique_ptr<ScheduledOptimizer> optimizer_;
};

}  // namespace rankbox::train
