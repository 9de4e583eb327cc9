// A session: one world of ranks that measures contests one after another.
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/compare/measure/devices.h"
#include "cli/compare/plan/jobs.h"
#include "comm/errors.h"

namespace rankbox::cli {

/// A failed run that ends its processes (comm/run_failure.h).
struct RunEnd {
  std::optional<Row> failed_row;  // the learner's row that caused it,
  std::exception_ptr error;       // or else what run_session would throw
  std::string details;
};

/// Callbacks on rank 0's thread, in the process of rank 0. All may be empty.
struct Listener {
  std::function<void(const std::vector<Device>& devices)> on_start = {};
  /// Before each call of a job.
  std::function<void(const Contest& contest, std::size_t job)> on_job = {};
  /// When all ranks have returned from a call of a learner's job.
  std::function<void()> on_left = {};
  std::function<void(const std::vector<Row>& rows)> on_contest = {};
  /// Called on any thread of one process where a failed run ends them. Returns the exit code.
  std::function<int(const RunEnd& end)> on_end = {};
};

/// The world could not be started. The reason may differ between a launcher's processes.
class CannotStart : public Error {
  using Error::Error;
};

/// Blocks until all contests are measured. A learner's job that throws, or whose result is wrong,
/// fails: its row states why, here and in the contests that follow. The other jobs continue.
/// vs_native of each row is relative to the native row of its contest.
///
/// Throws what reference jobs throw, with the row named, the same in all processes; InvalidArgument
/// if the largest row does not fit the devices' memory; before that, CannotStart or
/// InvalidArgument; Interrupted (cli/support/child.h) after a signal.
void run_session(const Plan& plan, std::vector<Contest> contests, const Listener& listener);

/// Sets vs_native and vs_ring of all rows of one contest.
void set_ratios(std::vector<Row>& rows);

}  // namespace rankbox::cli
