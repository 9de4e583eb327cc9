// The checkpoint of a run: what it must hold so that a run that was killed, and goes on from it, ends
// with the same bits as one that was not.
//
// That is the trainer's state (parameters, statistics, optimizer) and the position. All else follows
// from the plan: the order of samples from seed and epoch, dropout from step and sample. So the file
// holds the plan's numbers too, and a checkpoint is refused unless they agree:
//
//   must agree    model and its sizes, optimizer, --batch, --seed, the data: "batch 12 of epoch 2"
//                 would be other samples, the optimizer's state of another kind
//   may differ    --epochs and --save-every; --learning-rate, which people lower as they go on; ranks
//                 and strategy, because batches are global: the same run up to rounding. A line says
//                 so.
//
// Rank 0 alone reads and writes; the others get its values from Trainer::start(), and so need no file
// system in common.
#pragma once

#include <string>
#include <vector>

#include "train/position.h"
#include "train/strategies/strategy.h"
#include "train/task.h"

namespace rankbox::train {

class Checkpointing {
 public:
  /// Of a plan without --save: does nothing.
  Checkpointing(const Plan& plan, const Task& task);

  /// Whether it could be written there: before time is spent on what to write. Throws
  /// InvalidArgument.
  void check_place() const;

  /// Into trainer and position. Returns what differs though it may, as lines for people.
  /// Throws InvalidArgument, in one line, for a file that is none, is damaged, or is of another run.
  std::vector<std::string> load(Trainer& trainer, Position& position) const;

  /// Atomically. Throws Error if it cannot be written; what was there before is still there then.
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

/// The same position on all ranks: rank 0's.
void share_position(Comm& dist, Position& position);

}  // namespace rankbox::train
