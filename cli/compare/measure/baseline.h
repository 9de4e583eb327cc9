// Baselines: the native collective under other settings of its library.
//
// A library like NCCL reads NCCL_ALGO from its environment, some versions once per process. So a
// separate process measures a baseline: this program runs itself with the variable set, and
// receives the rows through a pipe. Under a launcher, each process does so, and the children find
// each other in the same way.
#pragma once

#include <string>
#include <vector>

#include "cli/compare/plan/plan.h"

namespace rankbox::cli {

struct BaselineRows {
  std::vector<Row> rows;  // named by the baseline's label; set only in the first process
  std::string failure;    // why there are none, in one line; "" on success
};

/// Sets the arguments of baseline processes to those of this process. Call once, before
/// measure_baseline.
void set_baseline_arguments(std::vector<std::string> arguments);

/// Runs this program again for its native rows. Blocks until the child has ended; the child is
/// killed with this process. Throws Interrupted after a signal while an InterruptGuard lives.
BaselineRows measure_baseline(int world_size, const Baseline& baseline);

/// Call in the child: sends the rows to the parent. Throws std::system_error if the parent is gone.
void report_to_parent(const std::vector<Row>& rows);

}  // namespace rankbox::cli
