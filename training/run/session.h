// Starts the ranks once, and trains on them.
#pragma once

#include <cstdint>
#include <vector>

#include "training/run/loop.h"
#include "training/run/task.h"

namespace rankbox::train {

/// The result of a run.
struct Outcome {
  bool is_complete = false;            // false: stopped by a signal
  std::vector<std::uint64_t> digests;  // [rank] of the bits of all parameters that it has
  // Set only in the first process, from rank 0.
  Position end;
  std::int64_t parameters = 0;  // elements of its model
  Evaluation test;              // of the model after `test_steps`; 0 samples: not evaluated
  std::int64_t test_steps = 0;  // less than end.steps if the run stopped since its last epoch
  /// Of each expert, how many test samples the final model sends there; padding counts, too. Empty
  /// without experts.
  std::vector<std::int64_t> expert_loads = {};
  std::int64_t best_steps = 0;  // completed by the final model, if it is that of --keep-best
};

/// Returns a digest of the bits of all values.
std::uint64_t digest_of(const std::vector<Parameter*>& parameters);

/// Returns the number of ranks: that of a launcher's processes, else the requested number (0: one).
/// Throws InvalidArgument if both are given and differ.
int world_size_for(int asked);

/// Throws InvalidArgument, in one line with the fix, for a plan that is impossible with this many
/// samples.
void check_plan(const Plan& plan, std::int64_t samples);

/// Returns whether a run_session() of this process has started to train. Until then an
/// InvalidArgument is a mistake on the command line.
bool has_begun();

/// Blocks until training is done. If there are several processes, all call it. Throws
/// InvalidArgument for a plan, data or a checkpoint that do not fit; else as run_loop.
Outcome run_session(const Plan& plan, const Task& task, const Listener& listener);

}  // namespace rankbox::train
