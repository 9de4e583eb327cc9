// Strategies: how ranks share the work of training one model.
//
// Each has a separate file, and one entry in the table of strategies.cc. To add one: write NAME.cc
// with a Trainer and a `const Strategy kName`, declare it below, and name it in that table.
// Options, loop, evaluation, checkpoints and reports name no strategy.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "comm/comm.h"
#include "training/checkpoint.h"
#include "training/cross_entropy.h"
#include "training/data/dataset.h"
#include "training/run/class_counts.h"
#include "training/run/plan.h"
#include "training/run/strategies/scheduled_optimizer.h"
#include "training/sequential.h"

namespace rankbox::train {

/// The samples that a rank takes: share `part` of `parts`. Ranks that work on the same samples
/// (stages of one pipeline) have the same part.
struct DataShare {
  int part = 0;
  int parts = 1;
};

/// One rank's side of a strategy: its model, or its part of one. All members but the plain getters
/// are collective: every rank calls them, in the same order.
///
/// Thread safety: belongs to its rank, like the Comm that it refers to.
class Trainer {
 public:
  Trainer() = default;
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;
  virtual ~Trainer() = default;

  virtual DataShare data_share() const = 0;

  /// Starts all ranks with rank 0's values, which may have been loaded from a checkpoint.
  virtual void start() = 0;
  /// Takes one step of the optimizer, on the mean loss over all samples of the global batches.
  /// @param batches this rank's shares of Plan::accumulate batches; all have the same size
  /// @param number of the step, from 0
  ///
  /// Returns this rank's contribution to the metrics of the step: over all ranks, each sample
  /// counts once.
  virtual Loss step(std::vector<Batch> batches, std::int64_t number) = 0;
  /// Returns this rank's, whose learning rate changes between steps.
  virtual ScheduledOptimizer& optimizer() = 0;
  /// Returns the norm of the latest step's gradients before clipping, the same on all ranks, once;
  /// nothing without --clip-norm, and for a step that was skipped.
  std::optional<double> take_gradient_norm() { return std::exchange(gradient_norm_, std::nullopt); }
  /// Call before a series of evaluate().
  virtual void prepare_evaluation() {}
  /// As step(), without learning. Padding is not counted. The rank that returns the loss of a
  /// sample also adds its class to `counts`.
  virtual Loss evaluate(Batch batch, ClassCounts& counts) = 0;

  /// Until release(), rank 0 has the whole model's state, even if it usually holds only a part.
  virtual void gather() {}
  virtual void release() {}
  /// Returns the parameters of the whole model: on rank 0, and between gather() and release().
  virtual std::vector<Parameter*> parameters() = 0;
  /// Adds the checkpoint state. Rank 0 saves it between gather() and release(), or loads into it
  /// before start(). Only on rank 0.
  virtual void add_state(TrainingState& state) = 0;

 protected:
  /// Clips the gradients right before the optimizer's step, as clip_global_norm does. Collective.
  /// Does nothing if max_norm is 0 (Plan::clip_norm).
  void clip(Comm& dist, const std::vector<Parameter*>& sharded,
            const std::vector<Parameter*>& replicated, double max_norm);

 private:
  std::optional<double> gradient_norm_;
};

struct Strategy {
  std::string_view name;
  std::string_view summary;  // for --help
  /// Throws InvalidArgument, in one line with the fix, for an unsupported plan.
  void (*check)(const Plan& plan, std::int64_t samples);
  std::unique_ptr<Trainer> (*make)(Comm& dist, const Model& model, const Plan& plan);
  /// Returns the exercises whose functions its trainer calls, and those that their reference
  /// solutions call. tests/cli/train_test.cc detects missing and superfluous ones.
  std::vector<std::string> (*uses)(const Plan& plan);
  bool all_reduces = false;    // averages gradients with Plan::all_reduce
  bool has_buckets = false;    // Plan::bucket_mib and overlap
  bool shares_batches = true;  // false: all ranks work on the whole batch
};

extern const Strategy kSingle;
extern const Strategy kDp;
extern const Strategy kDdp;
extern const Strategy kZero1;
extern const Strategy kZero2;
extern const Strategy kZero3;
extern const Strategy kFsdp;
extern const Strategy kHsdp;
extern const Strategy kTensor;
extern const Strategy kExpert;
extern const Strategy kPipeline;

/// For Strategy::uses: adds dynamic_loss_scaling if the plan's precision calls it.
std::vector<std::string> with_loss_scaling(const Plan& plan, std::vector<std::string> names);

/// Returns all strategies.
std::span<const Strategy* const> strategies();

/// Throws InvalidArgument that lists the valid names.
const Strategy& strategy_named(std::string_view name);

/// Returns the exercises that a run of this plan calls: those of its strategy, and those of the
/// loop.
std::vector<std::string> exercises_of(const Plan& plan);

}  // namespace rankbox::train
