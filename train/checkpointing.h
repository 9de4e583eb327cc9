// The checkpoint of a run.
//
// A run that was killed and resumes from it ends with the same bits as an uninterrupted one.
//
// The checkpoint holds the trainer's state (parameters, statistics, optimizer) and the position.
// All else follows from the plan: the order of samples from seed and epoch, dropout from step and
// sample. So the file holds the plan's numbers too, and a checkpoint is rejected unless they agree:
//
//   must agree    model and its sizes, optimizer, --batch, --seed, the data: "batch 12 of epoch 2"
//                 would be other samples, the optimizer's state would not fit
//   may differ    --epochs and --save-every; --learning-rate, which is often lowered; ranks and
//                 strategy, because batches are global: the same run up to rounding, with a note
//
// Only rank 0 reads and writes. The others receive its values from Trainer::start(), so no shared
// file system is needed.
#pragma once

#include <string>
#include <vector>

#include "train/position.h"
#include "train/strategies/strategy.h"
#include "train/task.h"

namespace rankbox::train {

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

  bool is_wanted() const { return !path_.empty(); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  std::string model_;  // with the optimizer
  std::int64_t batch_ = 0;
  std::int64_t seed_ = 0;
  std::int64_t data_ = 0;
  std::int64_t ranks_ = 0;
  double learning_rate_ = 0;
};

/// Broadcasts rank 0's position to all ranks.
void share_position(Comm& dist, Position& position);

}  // namespace rankbox::train
