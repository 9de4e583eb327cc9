// The checkpoint of a run.
//
// A run that was killed and resumes from it ends with the same bits as an uninterrupted one.
//
// The checkpoint holds the trainer's state (parameters, statistics, optimizer) and the position.
// All else follows from the plan: the order of samples from seed and epoch, dropout from step and
// sample. So the file holds the plan's numbers too, and a checkpoint is rejected unless they agree:
//
//   must agree    model and its sizes, optimizer, --batch, --accumulate, --seed, the data: "step 12
//                 of epoch 2" would be other samples, the optimizer's state would not fit
//   may differ    --epochs, --save-every, --eval-every; with a note, --learning-rate, which is
//                 often lowered, its warm-up and decay, --momentum, --weight-decay, --clip-norm;
//                 ranks and strategy, because batches are global: the same run up to rounding,
//                 batch norm excepted
//
// A file of an older version, which lacks some of the numbers, has those of the defaults.
//
// Only rank 0 reads and writes. The others receive its values from Trainer::start(), so no shared
// file system is needed.
#pragma once

#include <string>
#include <vector>

#include "training/run/position.h"
#include "training/run/strategies/strategy.h"
#include "training/run/task.h"

namespace rankbox::train {

/// What a file holds besides tensors; in a file, integers and the bits of doubles.
struct RunNumbers {
  Position position = {};
  std::int64_t batch = 0;
  std::int64_t accumulate = 1;
  std::int64_t seed = 0;
  std::int64_t data = 0;  // a digest
  std::int64_t ranks = 0;
  double learning_rate = 0;
  double momentum = Plan().momentum;
  double weight_decay = 0;
  std::int64_t warmup_steps = 0;
  std::int64_t decay = 0;      // Decay
  std::int64_t all_steps = 0;  // of the whole run, for the decay
  std::int64_t best_by = 0;    // BestBy
  double clip_norm = 0;
};

class Checkpointing {
 public:
  /// Does nothing for a plan without --save.
  Checkpointing(const Plan& plan, const Task& task);

  /// Checks that the file can be written, before training starts. Throws InvalidArgument.
  void check_place() const;

  /// Loads into trainer and position. Returns permitted differences, as lines for the user. Throws
  /// InvalidArgument, in one line, for a file that is not a checkpoint, is damaged, or belongs to
  /// another run.
  std::vector<std::string> load(Trainer& trainer, Position& position) const;

  /// Saves atomically. Throws Error if the file cannot be written; an earlier file is then
  /// unchanged.
  void save(Trainer& trainer, Position position) const;

  /// Returns the same for the best model: FILE.best.
  Checkpointing best() const;

  /// Returns the steps that the file's model has completed; -1 if there is no file. Throws
  /// InvalidArgument for a file that is not a checkpoint.
  std::int64_t steps_in_file() const;

  bool is_wanted() const { return !path_.empty(); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  std::string model_;  // with the optimizer
  RunNumbers here_;    // those of the plan
};

/// Broadcasts rank 0's position to all ranks.
void share_position(Comm& dist, Position& position);

}  // namespace rankbox::train
