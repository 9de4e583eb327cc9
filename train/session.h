// Starts the ranks once, and trains on them.
#pragma once

#include <cstdint>
#include <vector>

#include "train/loop.h"
#include "train/task.h"

namespace rankbox::train {

/// What a run came to.
struct Outcome {
  bool is_complete = false;            // false: stopped by a signal
  std::vector<std::uint64_t> digests;  // [rank] of the bits of all parameters that it knows
  // In the first process alone: what rank 0 knows.
  Position end;
  std::int64_t parameters = 0;  // elements of its model
  Metrics test;                 // of the model as it is at the end; 0 samples: not evaluated
};

/// A number for the bits of all values.
std::uint64_t digest_of(const std::vector<Parameter*>& parameters);

/// Ranks that train: as many as a launcher started processes, else as many as asked for (0: one).
/// Throws InvalidArgument if both are said and differ.
int world_size_for(int asked);

/// Throws InvalidArgument, in one line with the way out, for a plan that cannot be followed with so
/// many samples.
void check_plan(const Plan& plan, std::int64_t samples);

/// Whether a run_session() of this process has started to train. Until then an InvalidArgument is a
/// mistake on the command line.
bool has_begun();

/// Blocks until all is done. Where there are several processes, all call it.
/// Errors: InvalidArgument for a plan, data or a checkpoint that do not fit; else as run_loop.
Outcome run_session(const Plan& plan, const Task& task, const Listener& listener);

}  // namespace rankbox::train
