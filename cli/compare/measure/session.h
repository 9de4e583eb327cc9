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

/// Starts the plan's largest world once and does nothing in it. Throws InvalidArgument if this
/// machine cannot start it.
void check_largest_world(const Plan& plan);

/// Blocks until all worlds are measured. Rows of baselines follow the native row of their contest.
/// Under a launcher, all processes call it, and there is one world of as many ranks. Returns a line
/// for each baseline that could not be measured. Throws as run_session.
/// @param first_contest in the first world: another process measured the earlier ones
std::vector<std::string> measure_worlds(const Plan& plan, const Listener& listener,
                                        std::size_t first_contest = 0);

}  // namespace rankbox::cli
