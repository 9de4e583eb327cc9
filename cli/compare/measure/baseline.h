// Baselines: the native collective under other settings of its library.
//
// A library like NCCL reads NCCL_ALGO from its environment, some versions once per process. So a
// baseline is measured by a separate process: this program runs itself with the variable set, and
// gets the rows back through a pipe. Where a launcher started several processes, each of them does
// so, and their children find each other as they themselves did.
#pragma once

#include <string>
#include <vector>

#include "cli/compare/plan/plan.h"

namespace rankbox::cli {

struct BaselineRows {
  std::vector<Row> rows;  // named by the baseline's label; empty in processes other than the first
  std::string failure;    // why there are none, in one line; "": it was measured
};

/// Sets the arguments that a baseline's process is started with, those of this one. Call it once,
/// first.
void set_baseline_arguments(std::vector<std::string> arguments);

/// Runs this program again for its native rows. Blocks until it has ended; it is killed if
/// this process is. Throws Interrupted after a signal while an InterruptGuard lives.
BaselineRows measure_baseline(int world_size, const Baseline& baseline);

/// The child's side: gives the rows to the parent. Throws std::system_error if it is gone.
void report_to_parent(const std::vector<Row>& rows);

}  // namespace rankbox::cli
