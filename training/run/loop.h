// The loop over epochs and steps, for any number of ranks and every strategy.
//
// After each step there is one all-reduce of four numbers: the metrics of the batch, and whether
// any rank received a stop signal. So rank 0 can report on the global batch, and all ranks stop
// after the same step, although a signal reaches them at different times.
//
// An evaluation comes before the save of the same step, and before a stop: so a run that resumes
// there has missed none, and knows the best model so far.
//
// On a GPU a step enqueues its work, and the host waits five times: for the copy of the samples,
// when nothing else is queued; after forward, for the copy of the labels and then for the loss;
// after the optimizer, for the four numbers' copy and then for their sums. Adam waits once more,
// clipping for the norm, embeddings for their check, attention and dropout for copies of lengths
// and samples' numbers, and mixed precision once per parameter. A pipeline does so for every
// micro-batch.
//
// An epoch's last step is skipped if it is not full. Only full batches can be shared equally, and
// only then is the mean of the ranks' gradients the gradient of the mean.
#pragma once

#include <functional>
#include <optional>

#include "parallel/metrics.h"
#include "training/data/data_loader.h"
#include "training/run/checkpointing.h"
#include "training/run/evaluate.h"
#include "training/run/position.h"

namespace rankbox::train {

/// A step, as all ranks know it.
struct StepMetrics : Metrics {
  std::optional<double> gradient_norm = {};  // Trainer::take_gradient_norm
};

/// Callbacks of a run: only rank 0 calls them, except on_rank. All may be empty.
struct Listener {
  /// Each rank calls it first, on its own thread.
  std::function<void()> on_rank = {};
  /// @param notes the notes of --resume
  std::function<void(const Position& from, const std::vector<std::string>& notes)> on_start = {};
  /// @param steps in an epoch
  std::function<void(const Position& now, std::int64_t steps, const StepMetrics& batch)> on_step =
      {};
  /// For every evaluation: after epochs, and every Plan::eval_every steps. is_best: the highest
  /// score so far, whose model has been saved
  std::function<void(const Position& now, const Evaluation& test, bool is_best)> on_evaluation = {};
  std::function<void(const Position& now, const Evaluation& test)> on_epoch = {};
  std::function<void(const Position& now)> on_save = {};
};

/// Trains from `position` until the plan's epochs are done or a signal arrives (StopSignal), and
/// updates `position`. Collective. Returns whether all epochs are done.
/// Throws Error if the loss is not finite, and as saving does.
bool run_loop(Comm& dist, Trainer& trainer, const Plan& plan, const Split& data,
              const Checkpointing& checkpoint, const Listener& listener, Position& position);

/// Returns this rank's shares of the batches of one step of an epoch.
std::vector<Batch> batches_of(std::int64_t step, const DataLoader& loader, const Plan& plan);

}  // namespace rankbox::train
