// Baselines: the native collective under other settings of its library.
//
// A library like NCCL reads NCCL_ALGO from its environment, some versions once per process. So a
// baseline is measured by a process of its own: this program runs itself with the variable set, and
// gets the rows back through a pipe. Where a launcher started several processes, each of them does
// so, and their children find each other as they themselves did.
#pragma once

#include <string>
#include <vector>

#include "cli/perf/plan.h"

namespace rankbox::perf {

struct BaselineRows {
  std::vector<Row> rows;  // named by the baseline's label; empty in processes other than the first
  std::string failure;    // why there are none, in one line; "": it was measured
};

/// Runs this program again for the plan's native rows. Blocks until it has ended; it is killed if
/// this process is, or is told to stop (cli::Interrupted then, if a cli::InterruptGuard lives).
BaselineRows measure_baseline(const Plan& plan, const Baseline& baseline);

/// The child's side: gives the rows to the parent. Throws std::system_error if it is gone.
void report_to_parent(const std::vector<Row>& rows);

}  // namespace rankbox::perf
