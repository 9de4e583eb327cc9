// The interface of a backend beyond its Comm, implemented in backend_NAME.cc.
#pragma once

#include <string>

#include "training/run/plan.h"
#include "training/run/task.h"

namespace rankbox::train {

/// Returns "sim", "mpi" or "nccl": the program is rankbox-train-NAME.
const char* backend_name();

/// Returns "threads of this process", for a world of so many ranks.
std::string what_ranks_are(int ranks);

/// Options that place ranks, as typed; "" if omitted.
struct Placement {
  std::string nodes;
  std::string cluster;
};

/// Copies the options that this backend supports into the plan. Throws InvalidArgument for the
/// others, in one line with the alternative on this backend. NCCL without a launcher: also
/// CudaError if there is no GPU.
void place(const Placement& typed, Plan& plan);

/// Returns whether a step can be drawn: only where time is virtual.
bool has_timeline();

struct TimelineOptions {
  int columns = 80;
  bool ascii = false;
  bool colour = false;
};

/// Draws one step of the plan's strategy over virtual time; empty on backends without it. Trains a
/// fresh model for two steps and draws the second, so that the trace does not grow with the run.
/// Blocks. Throws as run_ranks.
std::string draw_step(const Plan& plan, const Task& task, const TimelineOptions& options);

}  // namespace rankbox::train
